-- paused_bits: the bits of `held` for a job of this tenant and group, which stay true until the transaction ends.
select holdfast_held(:tenant::text, :group::text)

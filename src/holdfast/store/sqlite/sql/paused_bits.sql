-- paused_bits: the bits of `held` for a job of this tenant and group.
select coalesce(sum(case scope when 'group' then 8 else 16 end), 0) from job_pauses
where tenant = :tenant and (scope = 'group' and name = :group or scope = 'tenant' and name = :tenant and :tenant <> '')

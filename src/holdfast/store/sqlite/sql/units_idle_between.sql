-- units_idle_between: whether an admitted job of a range of keys has not been claimed.
select 1 from job_units indexed by job_units_share where key >= :low and key < :high and owner is null limit 1

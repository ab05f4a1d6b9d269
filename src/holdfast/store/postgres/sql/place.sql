-- place: which table of which database of which running server a connection leads to, and the time there. All are
-- numbers, which every driver reads alike.
select d.oid::bigint, coalesce(to_regclass('job_queue')::oid::bigint, 0),
    round(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint,
    round(extract(epoch from date_trunc('milliseconds', clock_timestamp())) * 1000)::bigint
from pg_database as d where d.datname = current_database()

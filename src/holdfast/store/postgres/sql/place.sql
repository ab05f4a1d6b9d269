-- place: which database of which running server a connection leads to, and the time there.
select d.oid::bigint, pg_postmaster_start_time(),
    round(extract(epoch from date_trunc('milliseconds', clock_timestamp())) * 1000)::bigint
from pg_database as d where d.datname = current_database()

-- now: the database's time in milliseconds since 1970, so that hosts with skewed clocks agree.
select round(extract(epoch from date_trunc('milliseconds', clock_timestamp())) * 1000)::bigint

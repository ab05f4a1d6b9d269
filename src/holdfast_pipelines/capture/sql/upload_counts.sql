-- upload_counts: how many uploads stand where.
select status, count(*), sum(last_error is not null) from uploads group by status;

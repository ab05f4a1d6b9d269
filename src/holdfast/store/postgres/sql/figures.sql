-- figures: the histograms since a minute.
select queue, type, status, measure, bucket, sum(count)::bigint from job_figures
where minute >= :since::timestamptz group by queue, type, status, measure, bucket

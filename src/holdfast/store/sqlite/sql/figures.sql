-- figures: the histograms since a minute.
select queue, type, status, measure, bucket, sum(count) from job_figures
where minute >= :since group by queue, type, status, measure, bucket

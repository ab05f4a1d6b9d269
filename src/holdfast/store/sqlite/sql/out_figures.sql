-- out_figures: every histogram, in the order of its key.
select minute, queue, type, status, measure, bucket, count from job_figures
order by minute, queue, type, status, measure, bucket

-- in_figures: a histogram as another store had it.
insert into job_figures (minute, queue, type, status, measure, bucket, count)
values (:minute, :queue, :type, :status, :measure, :bucket, :count)

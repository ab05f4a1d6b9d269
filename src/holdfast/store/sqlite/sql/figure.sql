-- figure: count endings into the minute's histogram.
insert into job_figures (minute, queue, type, status, measure, bucket, count)
values (:minute, :queue, :type, :status, :measure, :bucket, :count)
on conflict (minute, queue, type, status, measure, bucket) do update set count = count + excluded.count

-- forget_figures: drop histograms older than a minute.
delete from job_figures where minute < :before::timestamptz

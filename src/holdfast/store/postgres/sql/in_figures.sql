-- in_figures: histograms as another store had them, in bulk; they are nobody's part.
copy job_figures (minute, queue, type, status, measure, bucket, count, part) from stdin

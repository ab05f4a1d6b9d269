-- recent: the newest learnings.
select id, title, category, confidence, tags, created_at, substr(content, 1, 150) from learnings order by number desc limit :limit;

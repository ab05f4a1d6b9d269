-- top: the learnings that are surest.
select id, title, category, confidence, tags, created_at, substr(content, 1, 150) from learnings
order by confidence desc, number desc limit :limit;

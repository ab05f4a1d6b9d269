-- search: the best of the newest matches, best first; filters apply to them, so the index is read once.
select l.id, l.title, l.category, l.confidence, l.tags, l.created_at, substr(l.content, 1, 200)
from (
  select rowid as number, rank from learnings_fts
  where learnings_fts match :query and rowid >= coalesce(
    (select rowid from learnings_fts where learnings_fts match :query order by rowid desc limit 1 offset :ranked), 0
  )
  order by rank limit :most
) as found
join learnings as l using (number)
where (:category is null or l.category = :category) and l.confidence >= :min_confidence
  and not exists (select 1 from json_each(:tags) as asked where asked.value not in (select value from json_each(l.tags)))
order by found.rank, l.number desc limit :limit offset :offset;

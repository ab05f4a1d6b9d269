-- matches: how many learnings match, up to a bound.
select count(*) from (select 1 from learnings_fts where learnings_fts match :query limit :most);

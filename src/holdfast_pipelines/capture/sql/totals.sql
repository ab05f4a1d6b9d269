-- totals: how many learnings there are, by category.
select category, count(*), avg(confidence), max(created_at) from learnings group by category order by category;

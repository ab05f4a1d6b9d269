-- learned: how many conversations learnings were looked for in, and how many there are.
select (select count(*) from conversations where extracted_to > 0), (select count(*) from learnings);

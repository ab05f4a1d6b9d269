-- learning_newest: the newest learnings of a category, to find one that says nearly the same.
select simhash from learnings where category = :category order by number desc limit 100;

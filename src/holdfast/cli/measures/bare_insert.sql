-- bare_insert: one row of it. Bound by position: a yardstick is the quickest way there is.
insert into jobs values (
    ?1, 'thumbnail', 'queued', 5, ?2, null, null, ?3, null, 0, 3, null, ?2, ?2, null, null, null
)

-- move_table: what the store remembers of moves; made by the first one, so a store that never moved has nothing to look at.
create table if not exists holdfast_move (
    only_row  integer not null primary key check (only_row = 1),
    is_open   integer not null,
    closed_by text    not null,
    filled_by text    not null,
    peer      text    not null,
    at        text    not null
) strict

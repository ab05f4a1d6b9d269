-- move_mark: remember a step of a move, in the transaction that makes it.
insert into holdfast_move (only_row, is_open, closed_by, filled_by, peer, at)
values (1, :is_open, :closed_by, :filled_by, :peer, :now::timestamptz)
on conflict (only_row) do update set is_open = excluded.is_open, closed_by = excluded.closed_by,
    filled_by = excluded.filled_by, peer = excluded.peer, at = excluded.at

-- move_look: whether the store is open, which move closed it, which one filled it, and the other store.
select is_open, closed_by, filled_by, peer from holdfast_move

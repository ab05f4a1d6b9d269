-- moves: what the witness wrote down, in order.
select id, old_status, new_status, old_token, new_token, result from witness order by number

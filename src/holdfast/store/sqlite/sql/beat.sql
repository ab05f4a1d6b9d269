-- beat: a worker says that it lives, and what it draws from. Answers whether it is new.
insert into job_workers (id, host, pid, started_at, seen_at, lanes, places, running)
values (:id, :host, :pid, :now, :now, :lanes, :places, :running)
on conflict (id) do update set seen_at = excluded.seen_at, lanes = excluded.lanes, places = excluded.places,
    running = excluded.running
returning started_at = seen_at

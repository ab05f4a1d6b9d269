-- spend_add: a call of that day has cost so much.
insert into spending (day, micros, calls) values (:day, :micros, 1)
on conflict (day) do update set micros = micros + excluded.micros, calls = calls + excluded.calls;

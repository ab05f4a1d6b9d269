-- provider_trouble: something went wrong with the provider; a pause that was asked for is never cut short.
insert into provider_state (name, not_before, trouble, at) values (:name, :not_before, :trouble, :at)
on conflict (name) do update
set not_before = max(not_before, excluded.not_before), trouble = excluded.trouble, at = excluded.at;

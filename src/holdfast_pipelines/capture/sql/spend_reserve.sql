-- spend_reserve: set the most that a call can cost aside, if the caps leave room and the provider asked for no pause.
insert into spending_held (id, day, micros, at)
select :id, :day, :micros, :at
where not exists (select 1 from provider_state where not_before > :at)
  and :micros <= :day_cap
    - (select coalesce(sum(micros), 0) from spending where day = :day)
    - (select coalesce(sum(micros), 0) from spending_held where day = :day)
  and :micros <= :month_cap
    - (select coalesce(sum(micros), 0) from spending where day between :month || '-01' and :month || '-31')
    - (select coalesce(sum(micros), 0) from spending_held where day between :month || '-01' and :month || '-31')
returning id;

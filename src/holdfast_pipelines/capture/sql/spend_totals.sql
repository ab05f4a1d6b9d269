-- spend_totals: what was spent, and what is set aside, on a day and in a month.
select
  (select coalesce(sum(micros), 0) from spending where day = :day),
  (select coalesce(sum(micros), 0) from spending_held where day = :day),
  (select coalesce(sum(micros), 0) from spending where day between :month || '-01' and :month || '-31'),
  (select coalesce(sum(micros), 0) from spending_held where day between :month || '-01' and :month || '-31');

-- parents_take: those among some jobs that still would end with their parents. Locked in the order given, downwards.
select j.id from unnest(:ids::text[]) with ordinality as wanted (id, place)
join job_queue as j on j.id = wanted.id
where j.status = 'queued' and j.on_parent is null
order by wanted.place
for update of j

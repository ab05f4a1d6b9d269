-- hold: take jobs out of the due index; one that runs is held when it comes back.
update job_queue set held = held | :bit where id in (select value from json_each(:ids)) and +status in ('queued', 'in_progress', 'awaiting_auth')

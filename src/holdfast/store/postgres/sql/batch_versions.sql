-- batch_versions: what a watcher of batches needs to know.
select id, version, case when ended_at is null then 'running' else 'ended' end from job_batches
where id = any (array (select json_array_elements_text(:ids::json)))

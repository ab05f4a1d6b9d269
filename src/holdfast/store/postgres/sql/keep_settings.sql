-- keep_settings: what holds from now on for statements of this session that stand in no transaction. Nothing is set where
-- another process of the server greeted us: a pooler tells its callers a number of its own, and shares its sessions. As for
-- a transaction, a commit is told when it is durable.
select set_config(setting.name, setting.value, false)
from (
    select name, value from json_each_text(:settings::json) as setting (name, value)
    union all
    select 'synchronous_commit', 'on' where current_setting('synchronous_commit') = 'off'
) as setting
where pg_backend_pid() = :pid

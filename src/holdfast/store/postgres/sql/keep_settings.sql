-- keep_settings: what holds from now on for statements of this session that stand in no transaction. Nothing is set where
-- another process of the server greeted us: a pooler tells its callers a number of its own, and shares its sessions.
select set_config(setting.name, setting.value, false) from json_each_text(:settings::json) as setting (name, value)
where pg_backend_pid() = :pid

-- settings: what holds for one transaction, all in one statement: the server answers each by itself. What is stored is
-- durable, also where a database is set to tell of commits before they are: a claim that a crash undid would give its token
-- out twice.
select set_config(setting.name, setting.value, true) from json_each_text(:settings::json) as setting (name, value)
union all
select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'

-- settings: what holds for one transaction, all in one statement: the server answers each by itself.
select set_config(setting.name, setting.value, true) from json_each_text(:settings::json) as setting (name, value)

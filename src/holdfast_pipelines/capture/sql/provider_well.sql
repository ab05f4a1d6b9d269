-- provider_well: the provider answered, so nothing is wrong with it.
update provider_state set trouble = '', at = :at where name = :name and trouble <> '';

-- provider_state: until when the provider is to be left alone, and what went wrong last.
select not_before, trouble, at from provider_state where name = :name;

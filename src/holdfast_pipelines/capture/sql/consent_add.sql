-- consent_add: the user turns sharing on.
insert into consent (id, consent_given_at, consent_version, sharing_enabled) values (:id, :at, '1', 1);

-- consent: whether sharing is switched on now.
select sharing_enabled, consent_given_at from consent where consent_withdrawn_at is null order by consent_given_at desc limit 1;

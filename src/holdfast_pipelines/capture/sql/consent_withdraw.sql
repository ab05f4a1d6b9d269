-- consent_withdraw: the user turns sharing off; that he did is kept.
update consent set consent_withdrawn_at = :at, sharing_enabled = 0 where consent_withdrawn_at is null;

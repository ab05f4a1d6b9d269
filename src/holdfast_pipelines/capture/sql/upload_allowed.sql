-- upload_allowed: whether a learning may go out now: sharing is on, and it was approved and not revoked.
select exists (select 1 from consent where consent_withdrawn_at is null and sharing_enabled = 1), upload_status
from learnings where id = :learning_id;

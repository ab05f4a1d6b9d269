-- tables: all that a captured session leaves behind. Nothing here is raw: texts are sanitised before they come.
create table capture_schema (version integer not null);

insert into capture_schema values (1);

create table conversations (
  id text primary key,
  session_id text not null unique,
  correlation_id text not null unique,
  project text not null default '',
  created_at text not null,
  updated_at text not null,
  completed_at text,
  sanitized integer not null default 1 check (sanitized = 1),
  sanitization_version text not null,
  message_count integer not null default 0,
  transcript_owed integer not null default 0,
  extracted_to integer not null default 0, -- the sequence up to which learnings were looked for
  metadata text not null default '{}'
);

create index conversations_by_age on conversations (updated_at);

create table messages (
  id text primary key,
  conversation_id text not null references conversations (id) on delete cascade,
  role text not null check (role in ('user', 'assistant', 'system')),
  content text not null check (content <> ''),
  content_hash text not null,
  raw_hash text not null, -- a keyed digest of the text as it was captured: validation may rewrite it
  sequence integer not null check (sequence > 0),
  created_at text not null,
  tool_calls text,
  source_id text,
  event_id text not null,
  part integer not null,
  ai_validated integer not null default 0 check (ai_validated in (0, 1)),
  ai_detections_count integer not null default 0,
  validated_by text,
  unique (conversation_id, sequence),
  unique (event_id, part)
);

create unique index messages_by_source on messages (conversation_id, source_id) where source_id is not null;

create index messages_unvalidated on messages (conversation_id) where ai_validated = 0;

create trigger messages_counted after insert on messages begin
  update conversations set message_count = message_count + 1 where id = new.conversation_id;
end;

create table sanitization_log (
  id text primary key,
  conversation_id text not null references conversations (id) on delete cascade,
  message_id text references messages (id) on delete cascade,
  category text not null,
  rule_id text not null,
  original_snippet_hmac text not null,
  replacement text not null,
  detector text not null check (detector in ('rule', 'ai', 'hybrid')),
  confidence real not null check (confidence between 0 and 1),
  created_at text not null
);

create index sanitization_log_by_message on sanitization_log (message_id);

create table learnings (
  number integer primary key,
  id text not null unique,
  conversation_id text not null references conversations (id) on delete cascade,
  source_message_ids text not null,
  category text not null check (category in ('pattern', 'best_practice', 'anti_pattern', 'bug_fix', 'optimization',
    'tool_usage', 'workflow', 'decision')),
  title text not null check (length(title) between 1 and 100),
  content text not null,
  confidence real not null check (confidence between 0 and 1),
  tags text not null default '[]',
  dedupe_hash text not null unique,
  simhash integer not null,
  created_at text not null,
  metadata text not null default '{}',
  license text not null default 'CC-BY-4.0',
  attribution_type text not null default 'anonymous',
  upload_status text not null default 'not_approved'
    check (upload_status in ('not_approved', 'approved', 'uploaded', 'rejected', 'revoked'))
);

create index learnings_by_category on learnings (category, number);

create index learnings_by_conversation on learnings (conversation_id);

create virtual table learnings_fts using fts5 (
  title, content, tags, content = 'learnings', content_rowid = 'number', tokenize = 'porter unicode61'
);

insert into learnings_fts (learnings_fts, rank) values ('secure-delete', 1);

create trigger learnings_indexed after insert on learnings begin
  insert into learnings_fts (rowid, title, content, tags) values (new.number, new.title, new.content, new.tags);
end;

create trigger learnings_unindexed after delete on learnings begin
  insert into learnings_fts (learnings_fts, rowid, title, content, tags)
  values ('delete', old.number, old.title, old.content, old.tags);
end;

create trigger learnings_reindexed after update of title, content, tags on learnings begin
  insert into learnings_fts (learnings_fts, rowid, title, content, tags)
  values ('delete', old.number, old.title, old.content, old.tags);
  insert into learnings_fts (rowid, title, content, tags) values (new.number, new.title, new.content, new.tags);
end;

create table uploads (
  id text primary key,
  learning_id text not null unique references learnings (id),
  document text not null, -- exactly what was approved, and nothing else, goes out
  ipfs_cid text unique,
  chain_tx_hash text unique,
  status text not null default 'pending'
    check (status in ('pending', 'ipfs_uploaded', 'tx_submitted', 'confirmed', 'failed', 'dropped')),
  tx_chain integer,
  tx_contract text,
  tx_account text,
  tx_nonce integer,
  tx_raw text, -- signed, and stored before anybody else sees it
  tx_replaces text, -- the hash of the one with a lower fee that was out before
  tx_signed_at text,
  tx_seen_at text, -- when the node first answered about it
  tx_block integer,
  begun_at text, -- when it was first taken outside
  waits integer not null default 0, -- in a row, for somebody who is away
  last_error text,
  created_at text not null,
  updated_at text not null,
  uploaded_at text,
  confirmed_at text,
  check (status not in ('ipfs_uploaded', 'tx_submitted', 'confirmed') or ipfs_cid is not null),
  check ((status = 'tx_submitted') = (tx_raw is not null)),
  check (tx_raw is null or (chain_tx_hash is not null and tx_nonce is not null and tx_account is not null)),
  check (status <> 'confirmed' or chain_tx_hash is not null)
);

create unique index uploads_nonces on uploads (tx_chain, tx_account, tx_nonce) where tx_raw is not null;

create table upload_accounts (
  chain integer not null,
  account text not null,
  signatures integer not null default 0, -- how many were made: whoever signs must have looked at the newest
  primary key (chain, account)
);

create table consent (
  id text primary key,
  consent_given_at text not null,
  consent_withdrawn_at text,
  consent_version text not null,
  sharing_enabled integer not null
);

create table upload_approvals (
  id text primary key,
  learning_id text not null references learnings (id),
  reviewed_at text not null,
  decision text not null check (decision in ('approved', 'rejected')),
  reviewer text not null
);

create table revocations (
  id text primary key,
  learning_id text not null,
  ipfs_cid text,
  revoked_at text not null,
  reason text not null
);

create table spending (
  day text primary key check (length(day) = 10), -- in UTC
  micros integer not null check (micros >= 0), -- millionths of a dollar
  calls integer not null
);

create table spending_held ( -- set aside for calls under way; that of a killed worker stays, for it may have been billed
  id text primary key,
  day text not null check (length(day) = 10),
  micros integer not null check (micros >= 0),
  at text not null
);

create index spending_held_by_day on spending_held (day, micros);

create table provider_state (
  name text primary key,
  not_before text not null default '', -- a pause that the provider asked for
  trouble text not null default '',
  at text not null
);

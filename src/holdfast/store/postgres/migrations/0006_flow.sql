-- 0006_flow: what a job that belongs to others carries: how many parents it waits for and how many wait for it, the limits
-- it counts against, the batch it is part of, and what it waits for from a person.

alter table job_queue
    add column blocked    integer not null default 0, -- parents that have not completed
    add column children   integer not null default 0, -- jobs that were enqueued to wait for this one
    add column on_parent  text collate "C",           -- 'run': although a parent ended badly; null: cancelled
    add column limits     json,                       -- [key, ...], at most four
    add column lane       text collate "C",           -- the limit it stands in line for
    add column batch      text collate "C",           -- the batch it is part of
    add column item       integer,                    -- its number there; null: a whole chunk
    add column parks      integer not null default 0, -- how often it has waited for a person
    add column auth       json,                       -- what a person is asked, and where
    add column auth_key   text collate "C",
    add column auth_until timestamptz,
    add column auth_data  text;                       -- the answer, encrypted, for the handler alone

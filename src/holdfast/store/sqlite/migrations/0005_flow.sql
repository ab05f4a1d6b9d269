-- 0005_flow: what a job that belongs to others carries: how many parents it waits for and how many wait for it, the limits
-- it counts against, the batch it is part of, and what it waits for from a person.

-- parents that have not completed
alter table job_queue add column blocked integer not null default 0;
-- jobs that were enqueued to wait for this one
alter table job_queue add column children integer not null default 0;
-- 'run': although a parent ended badly; null: cancelled
alter table job_queue add column on_parent text;
-- JSON: [key, ...], at most four
alter table job_queue add column limits text;
-- the limit it stands in line for
alter table job_queue add column lane text;
-- the batch it is part of
alter table job_queue add column batch text;
-- its number there; null: a whole chunk
alter table job_queue add column item integer;
-- how often it has waited for a person
alter table job_queue add column parks integer not null default 0;
-- JSON: what a person is asked, and where
alter table job_queue add column auth text;
alter table job_queue add column auth_key text;
alter table job_queue add column auth_until text;
-- the answer, encrypted, for the handler alone
alter table job_queue add column auth_data text;

"""Seeded bugs: each is one small change of the source that a careful reader might miss."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str


SQL = "store/sqlite/sql/"
PG = "store/postgres/sql/"
FENCE = "and lease_token = :token and status = 'in_progress'"

MUTANTS = [
    Mutant("finish has no fence", SQL + "finish.sql", FENCE, "and status = 'in_progress'"),
    Mutant("renew has no fence", SQL + "renew.sql", "and lease_token = :token ", ""),
    Mutant("progress has no fence", SQL + "progress.sql", "and lease_token = :token ", ""),
    Mutant("renew answers true for zero rows", "store/sqlite/leases.py", "until=until) == 1 for", "until=until) >= 0 for"),
    Mutant("the token starts again at a retry by hand", SQL + "retry.sql", "attempts = 0,", "attempts = 0, lease_token = 0,"),
    Mutant("the token stays at a forced end", SQL + "finish.sql", "lease_token = lease_token + :forced", "lease_token = lease_token + 0 * :forced"),
    Mutant("the token stays at an immediate cancel", SQL + "cancel_running.sql", "lease_token = lease_token + 1", "lease_token = lease_token"),
    Mutant("the token stays at the claim", SQL + "claim.sql", "lease_token = lease_token + 1", "lease_token = lease_token"),
    Mutant("a claim counts no attempt", SQL + "claim.sql", "attempts = attempts + 1", "attempts = attempts"),
    Mutant("one attempt too many", "model/decide.py", 'error=error, failed=1, why="failed")\n    if claim.attempts >= claim.max_attempts',
           'error=error, failed=1, why="failed")\n    if claim.attempts > claim.max_attempts'),
    Mutant("one crash too many", "model/decide.py", "claim.crashed + 1 >= policy.max_crashes", "claim.crashed + 1 > policy.max_crashes"),
    Mutant("crashes are not counted", SQL + "finish.sql", "crashed = crashed + :crashed", "crashed = crashed + 0 * :crashed"),
    Mutant("recovery has no guard", SQL + "finish.sql", " and lease_until < :expired_before", " and :expired_before is not null"),
    Mutant("a lease ends a millisecond early", SQL + "expired.sql", "lease_until < :now", "lease_until <= :now"),
    Mutant("recovery ends live leases", "store/sqlite/leases.py", "self.stamp if expired else _NEVER", "_NEVER"),
    Mutant("transactions begin deferred", "store/sqlite/connection.py", '"begin immediate"', '"begin deferred"'),
    Mutant("the clock is read before the lock", "store/sqlite/store.py", "self.retrying(connection, connection.begin)\n",
           "early = self._clock()\n        self.retrying(connection, connection.begin)\n"
           "        self._open = SqliteTransaction(connection, self.queries, early, self._check_space)\n        return self._open\n"),
    Mutant("a late finish overwrites a cancel", SQL + "finish.sql", FENCE, "and lease_token + 1 >= :token and status in ('in_progress', 'cancelled')"),
    Mutant("a graceful cancel is ignored", SQL + "finish.sql", "when cancel_requested_at is null or :status = 'completed' then :status", "when 1 then :status"),
    Mutant("a completion loses to a graceful cancel", SQL + "complete.sql", "status = 'completed', completed_at", "status = case when cancel_requested_at is null then 'completed' else 'cancelled' end, completed_at"),
    Mutant("due a millisecond late", SQL + "due.sql", "scheduled_at <= :now", "scheduled_at < :now"),
    Mutant("due ignores the time", SQL + "due.sql", "scheduled_at <= :now", ":now is not null"),
    Mutant("due in the wrong order", SQL + "due.sql", "order by scheduled_at, id", "order by id"),
    Mutant("worst priority first", SQL + "lanes.sql", "order by priority", "order by priority desc"),
    Mutant("a conflict of keys is ignored", "store/verbs.py", 'if kind != row["type"] or not same(payload, str(row["payload"]))', 'if kind != row["type"]'),
    Mutant("a key finds another tenant's job", SQL + "key_holder.sql", "where tenant = :tenant and", "where :tenant is not null and"),
    Mutant("an active key is kept", "store/flow.py", 'if claim.key_until == "active"', "if claim.key_until is None and not claim.id"),
    Mutant("a period frees the key of a live job", "store/sqlite/jobs.py", " and until <= self.stamp and status in TERMINAL", " and until <= self.stamp"),
    Mutant("retention takes what is too young", "store/sqlite/upkeep.py", "completed_at < stamp.to_text(max(0, self.now - keep_ms[status]))", "completed_at < self.stamp"),
    Mutant("retention takes a key that is still kept", "store/sqlite/upkeep.py", "if old and not key_kept", "if old"),
    Mutant("an interruption spends an attempt", "model/decide.py", "give_back=1, interrupted=1", "give_back=0, interrupted=1"),
    Mutant("a snooze spends an attempt", "model/decide.py", "wait_ms=for_ms, give_back=1", "wait_ms=for_ms, give_back=0"),
    Mutant("jobs that are alike come in although they are paused", "store/sqlite/asking.py", "self._hold_new([row], {(like.tenant, like.group)})",
           "self.news.of_group(like.tenant, like.group)"),
    Mutant("jobs that are alike change their payloads", "store/sqlite/asking.py", "pairs[1::2] = ids, payloads", "pairs[1::2] = ids, payloads[::-1]"),
    Mutant("half of the jobs that are alike stay", "store/sqlite/asking.py", "apart = len(jobs) % ROWS\n        with self.all_or_none():",
           "apart = len(jobs) % ROWS\n        if True:"),
    Mutant("a paused queue is claimed", SQL + "lanes.sql", "where value ->> 0 not in", "where value ->> 0 || '?' not in"),
    Mutant("a stamp has two digits of milliseconds", "model/stamp.py", "{milli:03d}", "{milli // 10:02d}"),
    Mutant("a stamp is local time", "model/stamp.py", "gmtime(second)", "gmtime(second + 3600)"),
    Mutant("a renewal is a visible change", SQL + "renew.sql", "set lease_until = :until", "set version = version + 1, lease_until = :until"),
    Mutant("a cancel crosses tenants", SQL + "cancel_waiting.sql", "(:tenant is null or tenant = :tenant)", "(:tenant is null or 1)"),
    Mutant("the first crash waits", "model/decide.py", "0 if claim.crashed == 0 else ", ""),
    Mutant("a suspect runs among others", SQL + "finish.sql", "held = (held & ~:free) | :hold", "held = (held & ~:free) | 0 * :hold"),
    Mutant("the first parent lets a child go", SQL + "parents_release.sql", "held = case when blocked > less.number then held else held & ~:bit end", "held = held & ~:bit"),
    Mutant("a bad parent lets its children go", "store/parents.py", "if bad and on_parent is None:", "if bad and on_parent:"),
    Mutant("only children fall, not theirs", "store/flow.py", "ended, batched = self._settle_parents(ended), None", "ended, batched = self._settle_parents(ended) and [], None"),
    Mutant("only children are revived, not theirs", "store/parents.py", "        again = _revive(tx, again)", "        again = _revive(tx, again) and []"),
    Mutant("a settled edge counts twice", SQL + "parents_settle.sql", " and done = 0", ""),
    Mutant("a parent is deleted that is needed", SQL + "purge.sql", "children = 0 or not exists", "1 or not exists"),
    Mutant("a failed run leaves follow-ups", "store/flow.py", "if jobs and move.status is Status.COMPLETED:", "if jobs:"),
    Mutant("a refused follow-up takes its neighbours along", "store/flow.py", "if len(endings) == 1:", "if endings:"),
    Mutant("PostgreSQL: a child does not hold its parents", PG + "parents_hold.sql", " for update", ""),
    Mutant("PostgreSQL: a retry does not hold the edges", PG + "parents_edges_hold.sql", " for update", ""),
    Mutant("PostgreSQL: a parent is deleted under a new child", PG + "purge_hold.sql", " for update", ""),
    Mutant("PostgreSQL: a child is not seen by the end of its parent", "store/postgres/leases.py", "if not children]", "if children >= 0]"),
    Mutant("PostgreSQL: finish has no fence", PG + "finish.sql", "and j.lease_token = e.token and", "and"),
    Mutant("PostgreSQL: renew has no fence", PG + "renew.sql", "and j.lease_token = h.token and", "and"),
    Mutant("PostgreSQL: recovery has no guard", PG + "finish.sql", " and j.lease_until < :expired_before::timestamptz", " and :expired_before::text is not null and j.lease_until is not null"),
    Mutant("PostgreSQL: the token stays at a forced end", PG + "finish.sql", "j.lease_token + :forced", "j.lease_token + 0 * :forced"),
    Mutant("PostgreSQL: a graceful cancel is ignored", PG + "finish.sql", "when j.cancel_requested_at is null or m.status = 'completed' then", "when true then"),
    Mutant("PostgreSQL: the last of two endings holds", "store/postgres/leases.py", "runs.setdefault((claim.id, claim.token), place)", "runs[claim.id, claim.token] = place"),
    Mutant("PostgreSQL: worst priority first", PG + "claim.sql", "order by p.priority\n", "order by p.priority desc\n"),
    Mutant("PostgreSQL: lanes are not mixed by due time", PG + "claim.sql", "order by due.scheduled_at, due.id", "order by due.id"),
    Mutant("PostgreSQL: a claim gives up where others were quicker", "store/postgres/leases.py", "if not told or len(told) < told[0][-3]:", "if not order.owner:"),
    Mutant("PostgreSQL: a rest from the worst priority", PG + "claim_rest.sql", "order by l.priority\n", "order by l.priority desc\n"),
    Mutant("PostgreSQL: a key finds another tenant's job", PG + "key_holder.sql", "where tenant = :tenant and", "where :tenant::text is not null and"),
    Mutant("PostgreSQL: stamps a second off", "store/postgres/connection.py", "946_684_800_000", "946_684_801_000"),
    Mutant("PostgreSQL: a group is repeated after a lost commit", "store/postgres/store.py", "if lost:", "if lost and not calls:"),
    Mutant("PostgreSQL: a deadlock is not tried again", "store/postgres/connection.py", 'frozenset(("40001", "40P01"))', 'frozenset(("40001",))'),
]  # fmt: skip

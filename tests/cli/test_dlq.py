from __future__ import annotations

import pytest

from holdfast.cli.verbs import PAGE
from holdfast.engine import leases
from holdfast.model.failure import Failure
from holdfast.model.lease import Lane
from holdfast.model.outcome import Raised
from holdfast.model.status import Status
from holdfast.store.port import Order
from tests.cli.given import dead, ended


@pytest.fixture
def letters(app) -> dict[str, str]:
    return {
        "mail": dead(app, "mail"),
        "tick": dead(app, "tick", tenant="t"),
        "failed": ended(app, Status.FAILED, "mail"),
    }


def test_dead_letters_are_listed_alone(cli, letters):
    found = cli("dlq", "list", "--json").json
    assert {job["id"] for job in found} == {letters["mail"], letters["tick"]}
    assert cli("dlq", "list", "--type", "tick", "--json").json[0]["id"] == letters["tick"]
    assert cli("dlq", "list", "--tenant", "t", "--json").json[0]["id"] == letters["tick"]
    assert "ValueError: it broke" in cli("dlq", "list").out


def test_a_listing_of_dead_letters_goes_on_below_a_job(cli, letters):
    newest, oldest = sorted((letters["mail"], letters["tick"]), reverse=True)
    assert cli("dlq", "list", "--limit", "1").err == f"more: --before {newest}\n"
    assert [job["id"] for job in cli("dlq", "list", "--before", newest, "--json").json] == [oldest]


def test_no_dead_letters_says_so(cli, app):
    app.jobs()
    assert cli("dlq", "list") == (0, "", "no dead letters\n")


def test_a_filter_that_nothing_matches_is_named(cli, letters):
    assert cli("dlq", "list", "--type", "brokn") == (0, "", "no dead letter matches --type\n")
    assert cli("dlq", "list", "--status", "failed", "--tenant", "t").err == "no failed job matches --tenant\n"


def test_failed_jobs_are_listed_and_retried_by_their_status(cli, app, letters):
    found = cli("dlq", "list", "--status", "failed", "--json").json
    assert [job["id"] for job in found] == [letters["failed"]]
    assert cli("dlq", "retry", "--status", "failed", "--type", "mail").out == "1 sent round again\n"
    assert app.get(letters["failed"]).status == "queued"
    assert app.get(letters["mail"]).status == "dead_letter"
    assert cli("dlq", "list", "--status", "failed").err == "no failed jobs\n"


def test_a_retry_that_finds_failed_jobs_alone_says_how_to_retry_them(cli, app):
    ended(app, Status.FAILED, "thumbnail")
    answer = cli("dlq", "retry", "--type", "thumbnail")
    assert answer.out == "0 sent round again\n"
    assert answer.err == "1 is failed, which is no dead letter: add --status failed to retry it\n"
    ended(app, Status.FAILED, "thumbnail")
    assert (
        "2 are failed, which is no dead letter: add --status failed to retry them" in cli("dlq", "retry", "--all").err
    )
    assert cli("dlq", "retry", "--type", "zzz").err == ""


def test_one_dead_letter_is_retried(cli, app, letters):
    assert cli("dlq", "retry", letters["mail"]).out == "1 sent round again\n"
    assert app.get(letters["mail"]).status == "queued"
    assert app.get(letters["tick"]).status == "dead_letter"


def test_the_dead_letters_of_a_type_are_retried(cli, app, letters):
    assert cli("dlq", "retry", "--type", "tick", "--json").json == {"retried": 1}
    assert app.get(letters["mail"]).status == "dead_letter"


def test_all_dead_letters_are_retried_page_by_page(cli, app):
    count = 2 * PAGE + 3
    _many(app, count)
    assert cli("dlq", "retry", "--all").out == f"{count:,} sent round again\n"
    assert cli("dlq", "list", "--json").json == []


def test_who_purged_what_is_told_afterwards(cli, letters):
    assert cli("audit") == (0, "", "nothing was deleted by hand lately\n")
    cli("dlq", "purge", letters["mail"], "--yes")
    cli("dlq", "purge", "--type", "tick", "--yes")
    tick, mail = cli("audit", "--json").json
    assert (mail["act"], mail["type"], mail["queue"], mail["tenant"], mail["jobs"]) == (
        "purge", "mail", "default", "", [letters["mail"]],
    )  # fmt: skip
    assert tick["jobs"] == [letters["tick"]]
    assert mail["actor"].startswith("cli:")
    assert "payload" not in mail
    shown = cli("audit").out
    assert letters["mail"] in shown
    assert mail["actor"] in shown
    assert cli("audit", "--limit", "1").err == f"more: --before {tick['id']}\n"
    assert cli("audit", "--before", tick["id"], "--json").json == [mail]
    assert cli("audit", "--tenant", "t", "--json").json == [tick]


def test_failed_jobs_are_left_alone_by_a_retry_of_all(cli, app, letters):
    assert cli("dlq", "retry", "--all", "--json").json == {"retried": 2}
    assert app.get(letters["failed"]).status == "failed"


@pytest.mark.parametrize("verb", ["retry", "purge"])
@pytest.mark.parametrize("arguments", [[], ["--all", "--type", "x"], ["ID", "--all"], ["ID", "--type", "x"]])
def test_a_retry_and_a_purge_must_say_which(cli, letters, verb, arguments):
    answer = cli("dlq", verb, *arguments)
    assert answer.code == 2
    assert "say which" in answer.err


def test_a_purge_asks_and_no_is_the_answer_unless_yes(cli, letters):
    for reply in ("", "n\n", "\n", "what\n"):
        answer = cli("dlq", "purge", "--all", stdin=reply)
        assert (answer.code, answer.out) == (1, "")
        assert "Delete 2 dead letters for good? [y/N]" in answer.err
        assert "nothing was deleted" in answer.err
    assert len(cli("dlq", "list", "--json").json) == 2
    assert cli("dlq", "purge", "--all", stdin="y\n").out == "2 deleted\n"
    assert cli("dlq", "list", "--json").json == []


def test_a_purge_of_a_type_leaves_the_others(cli, app, letters):
    assert cli("dlq", "purge", "--type", "mail", "--yes", "--json").json == {"purged": 1}
    assert [job["id"] for job in cli("dlq", "list", "--json").json] == [letters["tick"]]
    assert app.get(letters["failed"]).status == "failed"


@pytest.mark.parametrize("which", [["--all"], ["--type", "mail"], ["--all", "--yes"]])
def test_a_purge_of_nothing_asks_nothing(cli, app, which):
    app.jobs()
    assert cli("dlq", "purge", *which) == (0, "nothing to purge\n", "")
    assert cli("dlq", "purge", *which, "--json").json == {"purged": 0}


def test_a_purge_names_the_type_it_asks_about(cli, letters):
    assert "Delete 1 dead letter of type mail for good?" in cli("dlq", "purge", "--type", "mail").err


def test_one_dead_letter_is_purged(cli, letters):
    assert f"Delete job {letters['mail']} for good?" in cli("dlq", "purge", letters["mail"]).err
    assert cli("dlq", "purge", letters["mail"], "--yes").out == "1 deleted\n"
    assert cli("job", "show", letters["mail"]).code == 1


def test_only_dead_letters_are_purged(cli, app, letters):
    waiting = app.enqueue("tick").id
    for job_id in (waiting, letters["failed"]):
        answer = cli("dlq", "purge", job_id, "--yes")
        assert answer.code == 1
        assert answer.err.startswith("error WRONG_STATUS: ")
    assert cli("dlq", "purge", waiting, "--type", "tick", "--yes").code == 2


def test_all_pages_are_purged(cli, app):
    _many(app, PAGE + 1)
    assert cli("dlq", "purge", "--all", "--yes", "--json").json == {"purged": PAGE + 1}


def _many(app, count: int) -> None:
    from holdfast.model.decide import Move
    from holdfast.model.lease import Lane
    from holdfast.model.request import NewJob
    from holdfast.store.port import Ending, Order

    move = Move(Status.DEAD_LETTER, error='{"class":"E","message":"","code":"C"}', why="attempts exhausted")

    def fill(tx) -> None:
        tx.insert([NewJob("mail", "{}") for _ in range(count)])
        tx.finish([Ending(claim, move) for claim in tx.claim(Order("o", [Lane("default", "mail")], count, 60_000))])

    app.desk.write(fill)


def test_those_that_were_overtaken_are_passed_by(cli, app):
    for sequence in (1, 2):
        app.enqueue("index", {}, coalesce_key="doc", sequence=sequence, max_attempts=1)
        if sequence == 1:
            (claim,) = app.desk.write(leases.claim, Order("here", [Lane("default", "index")], 1, 60_000))
            app.desk.write(leases.finish, [(claim, Raised(Failure("ValueError", "no")))])
    other = dead(app)
    assert cli("dlq", "retry", "--all").out == "1 sent round again\n"
    assert (app.get(other).status, app.get(claim.id).status) == ("queued", "dead_letter")

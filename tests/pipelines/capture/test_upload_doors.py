"""What a person sees of uploads: the command line, and what the doctor says."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from holdfast_pipelines.capture import doctor, learnings
from holdfast_pipelines.capture.places import Places
from tests.pipelines.capture.gate import Answer


def cli(sharer, *arguments, without=()):
    environment = {name: value for name, value in sharer.environment.items() if name not in without}
    environment |= {"PATH": os.environ["PATH"], "HOME": str(sharer.folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-m", "holdfast.cli", "capture", *arguments],
        cwd=sharer.folder, env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def lines(sharer):
    found = doctor.examine(Places(sharer.environment), [], [])
    return [(level, text) for level, check, text in found if check == "uploads"]


def test_an_approval_says_what_is_missing_and_the_upload_waits(sharer):
    name = sharer.learning()
    said = cli(sharer, "learnings", "approve", name, without=("HOLDFAST_CAPTURE_CHAIN", "WALLET_KEY"))
    assert said.returncode == 0, said.stderr
    assert "set HOLDFAST_CAPTURE_CHAIN;" in said.stdout
    assert "HOLDFAST_CAPTURE_KEY_REF names a variable that is not set" in said.stdout
    assert "WALLET_KEY" not in said.stdout
    listed = json.loads(cli(sharer, "uploads", "list", "--json").stdout)
    assert [(one["learning_id"], one["status"]) for one in listed] == [(name, "pending")]
    sharer.until(name, "confirmed")
    assert cli(sharer, "learnings", "approve", sharer.learning(), "--json").stdout.count("waits_for") == 0


def test_uploads_are_listed_shown_and_tried_again(sharer):
    assert cli(sharer, "uploads", "list").stdout == "no uploads\n"
    sharer.anvil.fund(sharer.account, 0)
    name = sharer.approved()
    sharer.until(name, "failed")
    assert "insufficient funds" in cli(sharer, "uploads", "list", "--status", "failed").stdout.lower()
    assert json.loads(cli(sharer, "uploads", "list", "--status", "confirmed", "--json").stdout) == []
    sharer.anvil.fund(sharer.account)
    assert cli(sharer, "uploads", "retry", name).stdout == f"{name}: tried again; it was failed\n"
    done = sharer.until(name, "confirmed")
    shown = json.loads(cli(sharer, "uploads", "show", name, "--json").stdout)
    assert (shown["cid"], shown["tx"], shown["nonce"]) == (done.ipfs_cid, done.chain_tx_hash, 0)
    assert shown["document"]["id"] == name
    again = cli(sharer, "uploads", "retry", name)
    assert (again.returncode, "confirmed" in again.stderr) == (1, True)
    unknown = cli(sharer, "uploads", "show", "nothing")
    assert (unknown.returncode, "approve" in unknown.stderr) == (1, True)


def test_the_doctor_says_what_uploads_wait_for(sharer):
    assert lines(sharer) == [("ok", "0 under way, 0 confirmed")]
    kept = sharer.environment.pop("HOLDFAST_CAPTURE_CONTRACT")
    assert lines(sharer)[0][0] == "warn"
    assert "set HOLDFAST_CAPTURE_CONTRACT" in lines(sharer)[0][1]
    sharer.environment["HOLDFAST_CAPTURE_CONTRACT"] = kept
    name = sharer.approved()
    sharer.chain.rule = lambda _: Answer(503)
    sharer.work()
    assert lines(sharer) == [("warn", "1 of 1 wait: `holdfast capture uploads list` says what for")]
    sharer.chain.rule = lambda _: None
    sharer.until(name, "confirmed")
    assert lines(sharer) == [("ok", "0 under way, 1 confirmed")]
    learnings.sharing(sharer.app, turn=False)
    sharer.environment.clear()
    assert lines(sharer) == []


def test_without_sharing_the_doctor_says_nothing_of_uploads(sharer):
    learnings.sharing(sharer.app, turn=False)
    assert lines(sharer) == []

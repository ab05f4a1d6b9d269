"""An approved learning goes to IPFS and onto the chain, once, whatever happens on the way."""

from __future__ import annotations

import json
import sys
import time
from threading import Thread

import pytest
from web3 import HTTPProvider, Web3

import holdfast
from holdfast_pipelines.capture import learnings, uploads
from holdfast_pipelines.capture.jobs import application
from holdfast_pipelines.capture.upload import mine
from holdfast_pipelines.capture.upload_settings import UploadSettings
from holdfast_pipelines.providers import registry
from holdfast_pipelines.providers.ipfs import cid_of
from tests.pipelines.capture.gate import Answer
from tests.pipelines.capture.sharing import TEXT, document

sys.setrecursionlimit(1_000)  # web3 raises it for the whole process, and texts nested without end would crash it


def test_an_approved_learning_is_pinned_and_anchored(sharer):
    name = sharer.approved()
    job = sharer.job()
    assert (job.priority, job.max_attempts, job.queue) == (10, 5, "capture")
    done = sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)
    shared = document(sharer.node, done.ipfs_cid)
    assert (shared["id"], shared["title"], shared["context"]) == (name, "Guarded updates", TEXT)
    assert "secret-project" not in json.dumps(shared)
    assert learnings.show(sharer.app, name)["upload_status"] == "uploaded"
    job = sharer.job()
    assert (job.status, job.failed) == ("completed", 0)
    assert job.result == {"status": "confirmed", "cid": done.ipfs_cid, "tx": done.chain_tx_hash}


def test_another_library_reads_the_event_and_the_record(sharer):
    name = sharer.approved()
    done = sharer.until(name, "confirmed")
    chain = Web3(HTTPProvider(sharer.anvil.url))
    contract = chain.eth.contract(Web3.to_checksum_address(sharer.contract), abi=registry.compiled()["abi"])
    receipt = chain.eth.get_transaction_receipt(done.chain_tx_hash)
    (event,) = contract.events.LearningUploaded().process_receipt(receipt)
    hashed = Web3.keccak(uploads.metadata_of(done.document))
    assert (event.args.cid, event.args.contributor.lower()) == (done.ipfs_cid, sharer.account)
    assert (event.args.metadataHash, event.args.license) == (hashed, "CC-BY-4.0")
    assert contract.functions.getLearning(done.ipfs_cid).call()[0].lower() == sharer.account


def test_a_second_run_finds_it_done(sharer):
    name = sharer.approved()
    sharer.until(name, "confirmed")
    before = len(sharer.chain.passed) + len(sharer.ipfs.passed)
    sharer.app.enqueue("mine_upload", {"learning_id": name})
    sharer.work()
    assert sharer.job().result == {"skipped": True, "reason": "already-confirmed"}
    assert len(sharer.chain.passed) + len(sharer.ipfs.passed) == before
    sharer.assert_shared_once(name)


def test_nothing_is_sent_that_was_not_approved_or_is_not_configured(sharer):
    name = sharer.learning()
    for missing in ("HOLDFAST_CAPTURE_IPFS", "HOLDFAST_CAPTURE_CHAIN", "HOLDFAST_CAPTURE_CONTRACT", "WALLET_KEY"):
        kept = sharer.environment.pop(missing)
        if missing == "HOLDFAST_CAPTURE_IPFS":
            learnings.approve(sharer.app, name)
        else:
            uploads.retry(sharer.app, name)
        sharer.work()
        waiting = sharer.upload(name)
        assert waiting.status == "pending"
        assert ("HOLDFAST_CAPTURE_KEY_REF" if missing == "WALLET_KEY" else missing) in waiting.last_error
        assert sharer.job().status == "queued"
        assert sharer.job().attempts == 0
        sharer.environment[missing] = kept
    assert sharer.chain.passed == sharer.ipfs.passed == []
    sharer.clock.advance(301)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


def test_a_payload_cannot_name_hosts_of_its_own(sharer):
    name = sharer.approved()
    for more in ({"ipfs_endpoint": "http://127.0.0.1:9"}, {"chain_config": {"rpc_url": "http://127.0.0.1:9"}}):
        sharer.app.enqueue("mine_upload", {"learning_id": name, **more}, coalesce_key=name)
        sharer.work()
        assert sharer.job().status == "failed"
        assert sharer.job().error["code"] == "UPLOAD_REFUSED"
    assert sharer.chain.passed == sharer.ipfs.passed == []


def test_the_private_key_is_in_no_file_and_in_no_error(sharer):
    sharer.environment["WALLET_KEY"] = "f" * 64  # no number of the curve
    name = sharer.approved()
    sharer.work()
    assert "private key" in sharer.upload(name).last_error
    sharer.environment["WALLET_KEY"] = sharer.key
    sharer.clock.advance(301)
    sharer.until(name, "confirmed")
    kept = b"".join(path.read_bytes() for path in sharer.folder.rglob("*") if path.is_file())
    for key in (sharer.key, "f" * 64):
        assert key.encode() not in kept
        assert bytes.fromhex(key) not in kept


def test_what_the_sanitiser_has_learned_to_find_stays_here(sharer):
    name = sharer.approved(f"{TEXT} Mail bob@mailbox.org about it.")
    sharer.work()
    assert sharer.upload(name).status == "failed"
    assert "private" in sharer.job().error["message"]
    assert sharer.ipfs.passed == []


def test_a_learning_that_is_too_long_is_not_approved(sharer):
    name = sharer.learning("long " * 60_000)
    with pytest.raises(holdfast.BadInput, match="too long"):
        learnings.approve(sharer.app, name)
    assert learnings.show(sharer.app, name)["upload_status"] == "not_approved"
    assert sharer.app.jobs(type="mine_upload") == []


# -- taken back


@pytest.mark.parametrize("configured", [True, False])
def test_a_revoked_learning_that_has_not_begun_makes_no_call(sharer, configured):
    if not configured:
        del sharer.environment["HOLDFAST_CAPTURE_IPFS"]
    name = sharer.approved()
    learnings.revoke(sharer.app, name)
    sharer.work()
    assert sharer.upload(name).status == "dropped"
    assert sharer.job().result == {"skipped": True, "reason": "not-allowed"}
    assert sharer.chain.passed == sharer.ipfs.passed == []


def test_with_sharing_off_what_waits_is_dropped_and_needs_a_new_approval(sharer):
    name = sharer.approved()
    learnings.sharing(sharer.app, turn=False)
    sharer.work()
    assert sharer.upload(name).status == "dropped"
    assert sharer.ipfs.passed == []
    learnings.sharing(sharer.app, turn=True)
    assert learnings.show(sharer.app, name)["upload_status"] == "not_approved"
    learnings.approve(sharer.app, name)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


@pytest.mark.parametrize("at", ["add", "eth_chainId", "eth_estimateGas", "eth_getTransactionCount"])
def test_revoked_between_steps_it_is_unpinned_and_makes_no_transaction(sharer, at):
    name = sharer.approved()

    def revoke(passing):
        if passing.what == at and passing.done:
            learnings.revoke(sharer.app, name)

    sharer.ipfs.rule = sharer.chain.rule = revoke
    sharer.until(name, "dropped")
    assert sharer.pins() == set()
    assert sharer.chain.count("eth_sendRawTransaction") == 0
    assert learnings.show(sharer.app, name)["upload_status"] == "revoked"


def test_revoked_after_it_was_signed_and_before_it_was_sent_it_is_dropped(sharer):
    name = sharer.approved()
    sharer.chain.rule = lambda passing: Answer(503) if passing.what == "eth_sendRawTransaction" else None
    sharer.work()
    assert sharer.upload(name).status == "tx_submitted"
    sharer.chain.rule = lambda _: None
    learnings.revoke(sharer.app, name)
    sharer.until(name, "dropped")
    assert (sharer.pins(), sharer.transactions()) == (set(), [])
    again = sharer.approved("Another learning takes the nonce that was given back, and nobody waits for ever." + TEXT)
    sharer.until(again, "confirmed")
    assert [one["nonce"] for one in sharer.transactions()] == ["0x0"]


def test_what_was_sent_before_it_was_revoked_is_followed_to_its_end(sharer):
    name = sharer.approved()
    sharer.chain.rule = lambda passing: Answer(503) if passing[:2] == ("eth_sendRawTransaction", True) else None
    sharer.work()
    learnings.revoke(sharer.app, name)
    sharer.chain.rule = lambda _: None
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)
    assert learnings.show(sharer.app, name)["upload_status"] == "revoked"
    with sharer.app.transaction() as tx:
        assert tx.execute("select revocations.ipfs_cid = uploads.ipfs_cid from revocations join uploads") == [(1,)]


# -- the account


def test_two_uploads_of_one_account_have_nonces_of_their_own(sharer):
    names = [sharer.approved(f"{TEXT} Number {number}.") for number in range(3)]
    sharer.work()
    assert sorted(sharer.upload(name).tx_nonce for name in names) == [0, 1, 2]
    for name in names:
        sharer.until(name, "confirmed")
    sharer.assert_shared_once(*names)


def test_runs_of_one_upload_that_meet_are_one(sharer):
    """As when a lease was lost: the old run goes on beside the new one."""
    names = [sharer.approved(f"{TEXT} Number {number}.") for number in range(3)]
    runs = [Thread(target=finish, args=(sharer, name)) for name in names * 3]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    sharer.assert_shared_once(*names)


def test_a_count_that_another_upload_has_made_old_is_not_used(sharer):
    """Between the chain's count and the signature another upload is sent, mined and confirmed."""
    names = [sharer.approved(f"{TEXT} Number {number}.") for number in range(2)]
    overtaken = []

    def overtake(passing):
        if passing.what == "eth_getTransactionCount" and passing.done and not overtaken:
            overtaken.append(names[1])
            finish(sharer, names[1])

    sharer.chain.rule = overtake
    runner = Thread(target=finish, args=(sharer, names[0]))
    runner.start()
    runner.join(60)
    assert [sharer.upload(name).tx_nonce for name in names] == [1, 0]
    assert sharer.chain.count("eth_sendRawTransaction") == 2
    sharer.assert_shared_once(*names)


def finish(sharer, name):
    """Run an upload to its end, beside all others."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        try:
            mine(sharer.app, UploadSettings(sharer.environment), name)
        except holdfast.Snooze:
            sharer.anvil.mine()
            time.sleep(0.02)
        else:
            return


def test_an_upload_that_nobody_sends_does_not_stand_in_the_way(sharer):
    first = sharer.approved()
    sharer.chain.rule = lambda passing: Answer(503) if passing.what == "eth_sendRawTransaction" else None
    sharer.work()
    assert sharer.upload(first).status == "tx_submitted"
    sharer.app.cancel(sharer.job().id)
    sharer.chain.rule = lambda _: None
    second = sharer.approved(f"{TEXT} Twice.")
    sharer.until(second, "confirmed")
    assert sorted(one["nonce"] for one in sharer.transactions()) == ["0x0", "0x1"]
    uploads.retry(sharer.app, first)
    sharer.until(first, "confirmed")
    sharer.assert_shared_once(first, second)


def test_without_funds_it_fails_clearly_and_can_be_tried_again(sharer):
    sharer.anvil.fund(sharer.account, 0)
    name = sharer.approved()
    sharer.until(name, "failed")
    assert sharer.job().status == "failed"
    assert "funds" in sharer.job().error["message"]
    sharer.anvil.fund(sharer.account)
    uploads.retry(sharer.app, name)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


def test_fees_above_the_cap_are_waited_for(sharer):
    sharer.environment["HOLDFAST_CAPTURE_MAX_FEE"] = "0.000000001"
    name = sharer.approved()
    sharer.work()
    assert "HOLDFAST_CAPTURE_MAX_FEE" in sharer.upload(name).last_error
    assert (sharer.job().status, sharer.job().attempts) == ("queued", 0)
    del sharer.environment["HOLDFAST_CAPTURE_MAX_FEE"]
    sharer.until(name, "confirmed")
    (one,) = sharer.transactions()
    assert int(one["maxFeePerGas"], 16) <= 50 * 10**9
    assert int(one["maxPriorityFeePerGas"], 16) <= 2 * 10**9


def test_a_document_that_a_stranger_has_anchored_fails_clearly(sharer):
    name = sharer.approved()
    cid = cid_of(sharer.upload(name).content)
    data = registry.upload_data(cid, b"\0" * 32, "CC-BY-4.0")
    sharer.anvil.ask("eth_sendTransaction", {"from": sharer.anvil.unlocked, "to": sharer.contract, "data": data})
    sharer.anvil.mine()
    sharer.until(name, "failed")
    assert "another account" in sharer.upload(name).last_error
    assert sharer.transactions() == []


def test_a_database_from_a_backup_finds_what_is_on_the_chain(sharer, tmp_path):
    name = sharer.approved()
    backup = tmp_path / "old"
    backup.mkdir()
    with sharer.app.transaction() as tx:
        tx.execute("select 1")
    sharer.app.checkpoint()
    (backup / "capture.db").write_bytes((sharer.folder / "capture.db").read_bytes())
    done = sharer.until(name, "confirmed")
    sharer.app.close()
    sharer.app = application(
        sharer.environment | {"HOLDFAST_CAPTURE_URL": f"sqlite:///{backup}/capture.db"}, clock=sharer.clock
    )
    assert sharer.upload(name).status == "pending"
    again = sharer.until(name, "confirmed")
    assert (again.chain_tx_hash, again.tx_block) == (done.chain_tx_hash, done.tx_block)
    sharer.assert_shared_once(name)


def test_an_unknown_learning_is_no_upload(sharer):
    with pytest.raises(holdfast.NotFound, match="approve"):
        uploads.show(sharer.app, "01J00000000000000000000000")

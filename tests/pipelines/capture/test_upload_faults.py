"""The node and the chain are away, busy, lying, or changing their minds; an upload waits, or fails, and goes on."""

from __future__ import annotations

import json

import pytest

from holdfast_pipelines.capture import uploads
from tests.pipelines.capture.gate import Answer
from tests.pipelines.capture.sharing import ALL
from tests.servers.packages import free_port

IPFS = ("pin/ls", "add")
CHAIN = (
    "eth_chainId", "eth_getCode", "eth_call", "eth_estimateGas", "eth_maxPriorityFeePerGas", "eth_getBlockByNumber",
    "eth_getTransactionCount", "eth_sendRawTransaction", "eth_getTransactionReceipt",
)  # fmt: skip


def spoil(sharer, what, answer, *, done=False):
    """One kind of request is answered by the gate."""
    sharer.ipfs.rule = sharer.chain.rule = lambda passing: answer if passing[:2] == (what, done) else None


def mend(sharer):
    sharer.ipfs.rule = sharer.chain.rule = lambda _: None


@pytest.mark.parametrize("setting", ["HOLDFAST_CAPTURE_IPFS", "HOLDFAST_CAPTURE_CHAIN"])
@pytest.mark.parametrize("host", ["127.0.0.1", "nobody.invalid"])
def test_offline_it_waits_spends_no_attempt_and_goes_on(sharer, setting, host):
    name = sharer.approved()
    kept = sharer.environment[setting]
    sharer.environment[setting] = f"http://{host}:{free_port()}/private-token"
    for _ in range(8):
        sharer.work()
        sharer.clock.advance(61)
    job, waiting = sharer.job(), sharer.upload(name)
    assert (job.status, job.attempts, job.failed) == ("queued", 0, 0)
    assert "waits until it is back" in waiting.last_error
    assert "private-token" not in waiting.last_error
    sharer.environment[setting] = kept
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)
    assert sharer.job().failed == 0


BUSY = [(what, done) for what in (*IPFS, *CHAIN) for done in (False, True)]
BUSY_SAMPLE = [("add", True), ("eth_getTransactionCount", False), ("eth_sendRawTransaction", True)]


@pytest.mark.parametrize(("what", "done"), BUSY if ALL else BUSY_SAMPLE)
def test_a_busy_host_costs_no_attempt_whether_it_did_it_or_not(sharer, what, done):
    name = sharer.approved()
    for status in (500, 429):
        spoil(sharer, what, Answer(status, b"later"), done=done)
        sharer.work()
        sharer.anvil.mine()
        sharer.clock.advance(61)
        sharer.work()
        assert (sharer.job().status, sharer.job().attempts) == ("queued", 0)
        assert sharer.upload(name).status != "confirmed"
    mend(sharer)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)
    assert sharer.job().failed == 0


GARBAGE = {
    "a page": Answer(200, b"<html>log in to the hotel's network</html>"),
    "nothing": Answer(200, b""),
    "another shape": Answer(200, b'[1, {"Keys": 7}, null]'),
    "wrong types": Answer(200, b'{"jsonrpc": "2.0", "id": [], "result": {"status": []}, "Keys": 7, "Hash": {}}'),
    "deep": Answer(200, b"[" * 200_000),
    "too much": Answer(200, b"x" * 1024 * 1024, repeat=100),
    "elsewhere": Answer(302, b"", (("Location", "http://127.0.0.1:9/"),)),
}


LIES = [(what, kind) for what in (*IPFS, *CHAIN) for kind in GARBAGE]


@pytest.mark.parametrize(("what", "kind"), LIES if ALL else LIES[:: len(GARBAGE) + 1])
def test_garbage_is_believed_by_nobody(sharer, what, kind):
    name = sharer.approved()
    spoil(sharer, what, GARBAGE[kind])
    sharer.work()
    sharer.anvil.mine(3)
    sharer.clock.advance(61)
    sharer.work()
    assert sharer.upload(name).status != "confirmed"
    assert sharer.job().failed > 0
    mend(sharer)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


def test_garbage_for_ever_ends_in_a_dead_letter_that_can_be_tried_again(sharer):
    name = sharer.approved()
    spoil(sharer, "eth_chainId", GARBAGE["a page"])
    for _ in range(6):
        sharer.work()
        sharer.clock.advance(600)
    assert sharer.job().status == "dead_letter"
    assert "EVM" in sharer.upload(name).last_error
    mend(sharer)
    uploads.retry(sharer.app, name)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


def test_a_node_that_answers_another_cid_is_not_believed(sharer):
    name = sharer.approved()
    other = b"bafybeicg2rebjoofv4kbyovkw7af3rpiitvnl6i7ckcywaq6xjcxnc2mby"
    spoil(sharer, "add", Answer(200, b'{"Name": "learning.json", "Hash": "' + other + b'", "Size": "20"}\n'))
    sharer.work()
    assert sharer.upload(name).status == "pending"
    assert "something else" in sharer.job().error["message"]
    assert sharer.chain.passed == []


def test_a_node_that_says_it_pinned_and_did_not_is_not_believed(sharer):
    name = sharer.approved()
    cid = uploads_cid(sharer, name)
    spoil(sharer, "add", Answer(200, b'{"Name": "learning.json", "Hash": "' + cid + b'", "Size": "20"}\n'))
    sharer.work()
    assert sharer.upload(name).status == "pending"
    assert "did not pin" in sharer.job().error["message"]


def uploads_cid(sharer, name):
    from holdfast_pipelines.providers.ipfs import cid_of

    return cid_of(sharer.upload(name).content).encode()


def test_a_pin_that_was_lost_is_renewed_before_the_chain_points_to_it(sharer):
    name = sharer.approved()
    spoil(sharer, "eth_chainId", Answer(503))
    sharer.work()
    assert sharer.upload(name).status == "ipfs_uploaded"
    sharer.node.ask("pin/rm", arg=sharer.upload(name).ipfs_cid)
    mend(sharer)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("HOLDFAST_CAPTURE_CHAIN_ID", "1", "of chain 31337, not 1"),
        ("HOLDFAST_CAPTURE_CONTRACT", "0x" + "12" * 20, "no contract"),
    ],
)
def test_another_chain_or_no_contract_is_told_and_nothing_is_signed(sharer, setting, value, says):
    name = sharer.approved()
    kept, sharer.environment[setting] = sharer.environment[setting], value
    sharer.work()
    assert says in sharer.job().error["message"]
    assert sharer.upload(name).status == "ipfs_uploaded"
    sharer.environment[setting] = kept
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


def test_a_signed_transaction_is_for_one_account_contract_and_chain(sharer):
    name = sharer.approved()
    sharer.work()
    kept, sharer.environment["WALLET_KEY"] = sharer.key, "1" * 64
    sharer.clock.advance(2)
    sharer.work()
    assert sharer.job().status == "failed"
    assert sharer.account in sharer.job().error["message"]
    sharer.environment["WALLET_KEY"] = kept
    uploads.retry(sharer.app, name)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


def test_a_transaction_that_the_pool_has_lost_is_sent_again_as_it_was(sharer):
    name = sharer.approved()
    sharer.work()
    first = sharer.upload(name)
    assert first.tx_seen_at is not None
    sharer.anvil.ask("anvil_dropTransaction", first.chain_tx_hash)
    sharer.clock.advance(2)
    sharer.work()
    assert sharer.chain.count("eth_sendRawTransaction") == 2
    sharer.until(name, "confirmed")
    assert sharer.upload(name).chain_tx_hash == first.chain_tx_hash
    sharer.assert_shared_once(name)


def test_what_it_waited_for_is_forgotten_when_the_chain_is_back(sharer):
    name = sharer.approved()
    sharer.work()
    spoil(sharer, "eth_getBlockByNumber", Answer(503))
    sharer.clock.advance(2)
    sharer.work()
    assert "until it is back" in sharer.upload(name).last_error
    mend(sharer)
    sharer.clock.advance(61)
    sharer.work()
    assert (sharer.upload(name).last_error, sharer.upload(name).waits) == (None, 0)


def test_the_nonce_of_a_lost_transaction_is_given_to_no_other(sharer):
    first = sharer.approved()
    sharer.work()
    sharer.anvil.ask("anvil_dropTransaction", sharer.upload(first).chain_tx_hash)
    second = sharer.approved("The chain counts nothing of what its pool has lost, and still the nonce is taken here.")
    sharer.work()
    assert [sharer.upload(name).tx_nonce for name in (first, second)] == [0, 1]
    sharer.until(first, "confirmed")
    sharer.until(second, "confirmed")
    sharer.assert_shared_once(first, second)
    assert {job.failed for job in sharer.app.jobs(type="mine_upload")} == {0}


def test_a_block_that_is_rearranged_away_is_not_the_end(sharer):
    sharer.environment["HOLDFAST_CAPTURE_CONFIRMATIONS"] = "4"
    name = sharer.approved()
    sharer.work()
    sharer.anvil.mine()
    sharer.clock.advance(2)
    sharer.work()
    first = sharer.upload(name)
    assert first.tx_block is not None
    sharer.anvil.ask("anvil_reorg", 1, [])
    assert sharer.transactions() == []
    sharer.until(name, "confirmed")
    assert sharer.upload(name).chain_tx_hash == first.chain_tx_hash
    sharer.assert_shared_once(name)


def test_a_nonce_that_a_stranger_has_taken_is_replaced_when_that_is_final(sharer):
    sharer.environment["HOLDFAST_CAPTURE_CONFIRMATIONS"] = "3"
    name = sharer.approved()
    spoil(sharer, "eth_sendRawTransaction", Answer(503))
    sharer.work()
    first = sharer.upload(name)
    assert (first.status, first.tx_nonce) == ("tx_submitted", 0)
    stranger(sharer)
    mend(sharer)
    for _ in range(3):  # not final: the stranger's block may still be rearranged away
        sharer.clock.advance(61)
        sharer.work()
        assert sharer.upload(name).chain_tx_hash == first.chain_tx_hash
    done = sharer.until(name, "confirmed")
    assert (done.tx_nonce, done.chain_tx_hash == first.chain_tx_hash) == (1, False)
    assert sharer.pins() == {done.ipfs_cid}
    assert [one["hash"] for one in sharer.transactions()][1:] == [done.chain_tx_hash]


def stranger(sharer):
    """The same account is used elsewhere."""
    sharer.anvil.ask("anvil_impersonateAccount", sharer.account)
    sharer.anvil.ask("eth_sendTransaction", {"from": sharer.account, "to": sharer.anvil.unlocked, "value": "0x1"})
    sharer.anvil.mine()


@pytest.mark.parametrize("changed", ["blockHash", "nothing"])
def test_a_receipt_alone_confirms_nothing(sharer, changed):
    """Its block must stand in the chain, and the contract must know of it."""
    name = sharer.approved()

    def lie(passing):
        if passing.what == "eth_getTransactionReceipt" and passing.done and changed == "blockHash":
            answer = json.loads(passing.answer)
            if answer["result"]:
                answer["result"]["blockHash"] = "0x" + "ab" * 32
            return Answer(200, json.dumps(answer).encode())
        if passing.what == "eth_call" and passing.done and changed == "nothing":
            return Answer(200, json.dumps(json.loads(passing.answer) | {"result": "0x" + "00" * 128}).encode())
        return None

    sharer.chain.rule = lie
    for _ in range(5):
        sharer.work()
        sharer.anvil.mine(2)
        sharer.clock.advance(61)
    assert sharer.upload(name).status == "tx_submitted"
    mend(sharer)
    uploads.retry(sharer.app, name)
    sharer.until(name, "confirmed")
    sharer.assert_shared_once(name)


def test_a_reverted_transaction_fails_clearly(sharer):
    name = sharer.approved()
    sharer.work()
    code = sharer.anvil.ask("eth_getCode", sharer.contract, "latest")
    sharer.anvil.ask("anvil_setCode", sharer.contract, "0x60006000fd")  # reverts whatever it is asked
    sharer.until(name, "failed")
    assert "reverted" in sharer.job().error["message"]
    sharer.anvil.ask("anvil_setCode", sharer.contract, code)
    uploads.retry(sharer.app, name)
    sharer.until(name, "confirmed")
    assert len(sharer.transactions()) == 2  # the second was asked for

"""A transaction that nobody mines: its fee is raised, within the caps, and still one transaction is mined."""

from __future__ import annotations

import pytest

from holdfast_pipelines.capture import learnings
from holdfast_pipelines.providers import registry
from tests.pipelines.capture.gate import Answer
from tests.pipelines.capture.sharing import TEXT

GWEI = 10**9


@pytest.fixture
def stuck(sharer):
    """A sharer whose transaction waits in the pool: no block comes that has room for it."""
    sharer.name = sharer.approved()
    sharer.work()
    sharer.first = sharer.upload(sharer.name)
    return sharer


def wait_long(sharer):
    """As if it had been signed a while ago."""
    with sharer.app.transaction() as tx:
        tx.execute("update uploads set tx_signed_at = '2026-01-01T00:00:00.000Z' where status = 'tx_submitted'")
    sharer.clock.advance(61)
    sharer.work()


def fees(upload):
    found = registry.fields_of(upload.tx_raw)
    return found["maxFeePerGas"], found["maxPriorityFeePerGas"]


def test_a_fee_that_has_fallen_behind_is_raised_once_and_one_transaction_is_mined(stuck):
    stuck.clock.advance(61)
    stuck.work()
    assert stuck.upload(stuck.name).chain_tx_hash == stuck.first.chain_tx_hash  # not at once
    wait_long(stuck)
    second = stuck.upload(stuck.name)
    assert (second.tx_nonce, second.tx_replaces) == (0, stuck.first.chain_tx_hash)
    assert all(new > old * 1.1 for new, old in zip(fees(second), fees(stuck.first), strict=True))
    assert stuck.chain.count("eth_sendRawTransaction") == 2
    stuck.until(stuck.name, "confirmed")
    stuck.assert_shared_once(stuck.name)
    assert stuck.upload(stuck.name).chain_tx_hash == second.chain_tx_hash


@pytest.mark.parametrize("revoked", [False, True])
def test_the_first_may_be_mined_all_the_same(stuck, revoked):
    stuck.chain.rule = lambda passing: Answer(503) if passing[:2] == ("eth_sendRawTransaction", False) else None
    wait_long(stuck)
    assert stuck.upload(stuck.name).chain_tx_hash != stuck.first.chain_tx_hash
    if revoked:
        learnings.revoke(stuck.app, stuck.name)
    stuck.anvil.mine()
    stuck.chain.rule = lambda _: None
    assert stuck.until(stuck.name, "confirmed").chain_tx_hash == stuck.first.chain_tx_hash
    stuck.assert_shared_once(stuck.name)


def test_a_replacement_that_the_node_does_not_take_is_raised_again(stuck):
    refusal = (
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "replacement transaction underpriced"}}'
    )
    stuck.chain.rule = lambda passing: (
        Answer(200, refusal) if passing[:2] == ("eth_sendRawTransaction", False) else None
    )
    wait_long(stuck)
    second = stuck.upload(stuck.name)
    stuck.chain.rule = lambda _: None
    wait_long(stuck)
    third = stuck.upload(stuck.name)
    assert (second.tx_replaces, third.tx_replaces) == (stuck.first.chain_tx_hash, stuck.first.chain_tx_hash)
    assert fees(third) > fees(second) > fees(stuck.first)
    stuck.until(stuck.name, "confirmed")
    stuck.assert_shared_once(stuck.name)


@pytest.mark.parametrize("cap", ["HOLDFAST_CAPTURE_MAX_FEE", "HOLDFAST_CAPTURE_MAX_TIP"])
def test_no_fee_is_raised_above_the_caps(stuck, cap):
    fee, tip = fees(stuck.first)
    stuck.environment[cap] = f"{(fee if cap.endswith('FEE') else tip) / GWEI:.9f}"
    wait_long(stuck)
    waiting = stuck.upload(stuck.name)
    assert waiting.chain_tx_hash == stuck.first.chain_tx_hash
    assert cap in waiting.last_error
    stuck.until(stuck.name, "confirmed")
    stuck.assert_shared_once(stuck.name)


def test_what_was_revoked_is_not_made_dearer(stuck):
    learnings.revoke(stuck.app, stuck.name)
    wait_long(stuck)
    assert stuck.upload(stuck.name).chain_tx_hash == stuck.first.chain_tx_hash
    stuck.until(stuck.name, "confirmed")
    stuck.assert_shared_once(stuck.name)


def test_what_waits_for_another_is_not_made_dearer(sharer):
    names = [sharer.approved(f"{TEXT} Number {number}.") for number in range(2)]
    sharer.work()
    before = {name: sharer.upload(name) for name in names}
    wait_long(sharer)
    raised = [before[name].tx_nonce for name in names if sharer.upload(name).tx_replaces is not None]
    assert raised == [0]
    for name in names:
        sharer.until(name, "confirmed")
    sharer.assert_shared_once(*names)

"""`mine_upload`: one approved learning goes to IPFS and onto the chain, once.

pending -> ipfs_uploaded -> tx_submitted -> confirmed. Every step looks at the row, does one thing outside, and writes
what came of it where the row still stands as it was; so a run may be killed anywhere, and two runs may meet.

Pinning the same bytes again is the same pin. A transaction is signed, and its bytes, nonce and hash are stored, in the
transaction that allots the nonce; from then on only these bytes are sent, however often. They are given up in two
cases: the node refused them, or the nonce was spent on something else for good. If nobody mines them, the same call
with a higher fee takes their place and their nonce, so the chain takes one of the two. The contract refuses a CID that
it has.

Whether the learning may still go out is asked before each step. What the node's pool has taken cannot be called back.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import holdfast
from holdfast_pipelines.capture import upload_rows as rows
from holdfast_pipelines.capture import uploads
from holdfast_pipelines.capture.marks import now
from holdfast_pipelines.capture.queries import query
from holdfast_pipelines.providers import registry
from holdfast_pipelines.providers.evm import Block, Chain, NodeRefused, Receipt
from holdfast_pipelines.providers.ipfs import Kubo, cid_of
from holdfast_pipelines.providers.outside import Garbled, Refused, Unreachable

if TYPE_CHECKING:
    from holdfast import App
    from holdfast_pipelines.capture.upload_settings import UploadSettings
    from holdfast_pipelines.capture.uploads import Upload

NOT_CONFIGURED = 60.0  # seconds until another look: a worker beside this one may have what it takes
_MOST_STEPS = 30
_MOST_GAS = 1_000_000
_KNOWN = ("already known", "known transaction", "already imported", "already exists")
_NONCE = ("nonce too low", "nonce is too low", "old nonce", "invalid nonce", "replacement transaction underpriced")
_CHEAP = ("less than block base fee", "max fee per gas less", "feecap", "fee cap", "underpriced")
_FINAL = ("revert", "insufficient funds", "gas required exceeds")


def mine(app: App, settings: UploadSettings, learning_id: str) -> dict[str, Any]:
    """Bring an upload as far as it gets now; answers how it ended. Otherwise it raises what the run's end should be."""
    row = rows.row(app, learning_id)
    if row.status == "confirmed":
        with app.transaction() as tx:
            tx.execute(query("learning_uploaded"), {"id": learning_id})  # it may have been approved once more
        return {"skipped": True, "reason": "already-confirmed"}
    if row.status == "failed":  # somebody asked for it again
        rows.write(app, "upload_again", learning_id)
        row = rows.row(app, learning_id)
    if row.status == "pending" and row.begun_at is None and not rows.allowed(app, learning_id):
        rows.drop(app, row)
    elif settings.wrong and row.status != "dropped":
        rows.wait(app, learning_id, settings.advice(), NOT_CONFIGURED)
    try:
        return Mining(app, settings).run(learning_id)
    except Unreachable as error:
        rows.wait(app, learning_id, f"waits until it is back: {error}")
    except (Garbled, Refused, NodeRefused) as error:
        rows.write(app, "upload_waits", learning_id, error=str(error))
        raise rows.coded(holdfast.Retry(str(error))) from None
    except (registry.BadKey, registry.NoChain) as error:
        rows.wait(app, learning_id, str(error), NOT_CONFIGURED)


class _Overtaken(Exception):
    """Another run has taken the upload further: look again."""


class Mining:
    """One run: the hosts and the account that it works with."""

    def __init__(self, app: App, settings: UploadSettings) -> None:
        self._app = app
        self._settings = settings
        self._chain_checked = False

    def run(self, learning_id: str) -> dict[str, Any]:
        """Step by step, until the upload has ended."""
        for _ in range(_MOST_STEPS):
            row = rows.row(self._app, learning_id)
            match row.status:
                case "dropped":
                    return {"skipped": True, "reason": "not-allowed"}
                case "confirmed" | "failed":
                    return {"status": row.status, "cid": row.ipfs_cid, "tx": row.chain_tx_hash}
            with suppress(_Overtaken):
                self._step(row)
        raise holdfast.Snooze(rows.SOON)

    def _step(self, row: Upload) -> None:
        match row.status:
            case "pending":
                self._pin(row)
            case "ipfs_uploaded":
                self._sign(row)
            case "tx_submitted":
                self._follow(row)

    # -- to IPFS

    def _pin(self, row: Upload) -> None:
        if not self._may_go(row):
            return
        if rows.private(row.document):
            self._fail(row, "the sanitiser finds something private in it now: revoke it, or wait for a new learning")
        rows.write(self._app, "upload_begun", row.learning_id)
        cid = Kubo(self._settings.ipfs).ensure_pinned(row.content)
        rows.write(self._app, "upload_pinned", row.learning_id, cid=cid)

    def _may_go(self, row: Upload) -> bool:
        if rows.allowed(self._app, row.learning_id):
            return True
        if row.begun_at is not None:
            Kubo(self._settings.ipfs).unpin(cid_of(row.content))
        rows.drop(self._app, row)
        return False

    # -- onto the chain

    def _sign(self, row: Upload) -> None:
        if not self._may_go(row):
            return
        cid = Kubo(self._settings.ipfs).ensure_pinned(row.content)  # whoever reads the chain must find it
        chain, account = self._checked_chain(), registry.Account(self._settings.key)
        known = self._anchored(chain, cid)
        if known is not None:
            self._adopt(row, chain, account, known)
            return
        hashed = registry.keccak(uploads.metadata_of(row.document))
        data = registry.upload_data(cid, hashed, json.loads(row.document)["license"])
        fields = {"to": registry.checksummed(self._settings.contract), "data": data, "chainId": self._settings.chain_id}
        fields |= {"gas": self._gas(row, chain, account, data)} | self._fees(row, chain)
        if not self._signed(row, chain, account, fields):
            self._help(chain, account)

    def _signed(self, row: Upload, chain: Chain, account: registry.Account, fields: dict[str, Any]) -> bool:
        """Allot a nonce, sign, and store the bytes, all in one transaction; False if it is not our turn."""
        who = {"chain": self._settings.chain_id, "account": account.address}
        with self._app.transaction() as tx:
            tx.execute(query("upload_account_add"), who)
            ((signatures,),) = tx.execute(query("upload_account"), who)
        floor = chain.next_nonce(account.address)
        with self._app.transaction() as tx:
            if not rows.allowed_in(tx, row.learning_id):
                return True  # the next step drops it
            turn = who | {"signatures": signatures, "learning_id": row.learning_id}
            if not tx.execute(query("upload_turn"), turn):
                return False
            ((nonce,),) = tx.execute(query("upload_nonce"), who | {"floor": floor})
            signed = account.sign(fields | {"nonce": nonce})
            values = who | {"raw": signed.raw, "hash": signed.hash, "nonce": nonce, "at": now()}
            values |= {"contract": self._settings.contract, "learning_id": row.learning_id}
            tx.execute(query("upload_signed"), values)
        return True

    def _help(self, chain: Chain, account: registry.Account) -> None:
        """Send what another run has signed and not sent: until then its nonce stands in everybody's way."""
        who = {"chain": self._settings.chain_id, "account": account.address}
        with self._app.transaction() as tx:
            found = tx.execute(query("upload_unseen"), who)
        for (learning_id,) in found:
            try:
                self._broadcast(rows.row(self._app, learning_id), chain)
            except (holdfast.Permanent, _Overtaken):
                continue  # its own failure, noted in its own row

    def _gas(self, row: Upload, chain: Chain, account: registry.Account, data: str) -> int:
        try:
            needed = chain.gas(account.address, self._settings.contract, data)
        except NodeRefused as error:
            if self._anchored(chain, cid_of(row.content)) is not None:
                raise _Overtaken from None
            if any(word in error.text.lower() for word in _FINAL):
                self._fail(row, f"the contract, or the account, cannot do it: {error}")
            raise
        if needed > _MOST_GAS:
            self._fail(row, f"it would take {needed} gas: is {self._settings.contract} the registry?")
        return needed + needed // 4

    def _fees(self, row: Upload, chain: Chain) -> dict[str, int]:
        tip, base = min(chain.tip(), self._settings.max_tip), self._newest(chain).base_fee
        if base + tip > self._settings.max_fee:
            reason = "waits for lower fees: the chain asks for more than HOLDFAST_CAPTURE_MAX_FEE"
            rows.wait(self._app, row.learning_id, reason, rows.LONGEST_WAIT)
        return {"maxPriorityFeePerGas": tip, "maxFeePerGas": min(self._settings.max_fee, 2 * base + tip)}

    def _adopt(self, row: Upload, chain: Chain, account: registry.Account, known: registry.Known) -> None:
        """The chain has it, and this database does not know: it was restored, or the node lied to us once."""
        if known.contributor != account.address:
            self._fail(row, f"another account, {known.contributor}, has anchored this document")
        depth = self._newest(chain).number - known.block + 1
        if depth < self._settings.confirmations:
            raise holdfast.Snooze(rows.SOON)
        assert row.ipfs_cid is not None
        found = chain.transaction_of(self._settings.contract, registry.event_topics(row.ipfs_cid), known.block)
        if found is None:
            raise Garbled(f"{chain.name} knows that the document is anchored, and not by which transaction")
        self._confirm(row, found, known.block)

    # -- what was signed

    def _follow(self, row: Upload) -> None:
        assert row.chain_tx_hash is not None
        assert row.tx_nonce is not None
        chain, account = self._checked_chain(), registry.Account(self._settings.key)
        here = (self._settings.chain_id, self._settings.contract, account.address)
        if here != (row.tx_chain, row.tx_contract, row.tx_account):
            text = f"it was signed by {row.tx_account} for {row.tx_contract} on chain {row.tx_chain}: set these again"
            rows.write(self._app, "upload_waits", row.learning_id, error=text)
            raise rows.coded(holdfast.Permanent(text))
        if row.tx_seen_at is None:
            self._broadcast(row, chain)
            return
        newest = self._newest(chain)
        if row.last_error is not None:
            rows.write(self._app, "upload_heard", row.learning_id)
        settled = newest.number - self._settings.confirmations
        # In this order: a receipt that is not there after the nonce was spent for good will never be there.
        spent = settled >= 0 and chain.next_nonce(account.address, at=settled) > row.tx_nonce
        for tx_hash in _hashes(row):
            receipt = chain.receipt(tx_hash)
            if receipt is not None:
                self._mined(row, chain, receipt, newest, tx_hash)
                return
        if spent:
            rows.write(self._app, "upload_unsigned", row.learning_id, hash=row.chain_tx_hash)
        elif (out := next(filter(chain.knows, _hashes(row)), None)) is not None and rows.is_stuck(row):
            self._raise(row, chain, account, newest, out)
        elif out == row.chain_tx_hash or chain.next_nonce(account.address, at=newest.number) > row.tx_nonce:
            rows.rest(row)
        else:
            self._broadcast(row, chain)  # the pool has lost it
            rows.rest(row)

    def _raise(self, row: Upload, chain: Chain, account: registry.Account, newest: Block, out: str) -> None:
        """Sign the same call again, with the same nonce and a fee that nodes take for a replacement."""
        assert row.tx_raw is not None
        if chain.next_nonce(account.address, at=newest.number) != row.tx_nonce:
            rows.rest(row)  # it waits for another, not for its fee
        fields = registry.fields_of(row.tx_raw)
        tip = max(min(chain.tip(), self._settings.max_tip), _higher(fields["maxPriorityFeePerGas"]))
        fee = max(min(2 * newest.base_fee + tip, self._settings.max_fee), _higher(fields["maxFeePerGas"]))
        if fee > self._settings.max_fee or tip > self._settings.max_tip:
            reason = "waits for lower fees: HOLDFAST_CAPTURE_MAX_FEE and HOLDFAST_CAPTURE_MAX_TIP allow no higher one"
            rows.wait(self._app, row.learning_id, reason, rows.LATER)
        signed = account.sign(fields | {"maxPriorityFeePerGas": tip, "maxFeePerGas": fee})
        values = {"raw": signed.raw, "hash": signed.hash, "out": out, "replaced": row.chain_tx_hash}
        with self._app.transaction() as tx:
            if rows.allowed_in(tx, row.learning_id):
                tx.execute(query("upload_raised"), values | {"learning_id": row.learning_id, "at": now()})
                return  # or another run was quicker; either way the next step looks again
        rows.rest(row)

    def _broadcast(self, row: Upload, chain: Chain) -> None:
        """Send the stored bytes, and no others."""
        if row.tx_raw is None or row.chain_tx_hash is None:
            return  # another run was quicker
        if not rows.allowed(self._app, row.learning_id) and not self._out(chain, row):
            rows.write(self._app, "upload_unsigned", row.learning_id, hash=row.chain_tx_hash)
            return
        try:
            if chain.send(row.tx_raw) != row.chain_tx_hash:
                raise Garbled(f"{chain.name} gave the transaction another hash than it has")
        except NodeRefused as error:
            self._judge(row, chain, error)
        rows.write(self._app, "upload_seen", row.learning_id, hash=row.chain_tx_hash)

    def _judge(self, row: Upload, chain: Chain, error: NodeRefused) -> None:
        """Whether a refusal means that the node has it, or that it must wait; any other is the end of it."""
        assert row.chain_tx_hash is not None
        text = error.text.lower()
        if any(word in text for word in (*_KNOWN, *_NONCE)) or self._out(chain, row):
            return
        if any(word in text for word in _CHEAP):
            rows.write(self._app, "upload_unsigned", row.learning_id, hash=row.chain_tx_hash)
            rows.wait(self._app, row.learning_id, f"waits for lower fees: {error}", rows.LATER)
        if "nonce" in text:
            raise error
        self._fail(row, f"the transaction was refused: {error}")

    def _mined(self, row: Upload, chain: Chain, receipt: Receipt, newest: Block, tx_hash: str) -> None:
        assert row.ipfs_cid is not None
        rows.write(self._app, "upload_mined", row.learning_id, hash=row.chain_tx_hash, block=receipt.block)
        if newest.number - receipt.block + 1 < self._settings.confirmations:
            rows.rest(row)
        standing = chain.block(receipt.block)
        if standing is None or standing.hash != receipt.block_hash:
            rows.rest(row)  # the chain is being rearranged
        if not receipt.succeeded:
            self._fail(row, f"the transaction {tx_hash} was reverted: look at the account and the contract")
        known = self._anchored(chain, row.ipfs_cid)
        if known is None or known.contributor != row.tx_account:
            raise Garbled(f"{chain.name} has mined the transaction, and the contract does not know of it")
        self._confirm(row, tx_hash, receipt.block)

    def _confirm(self, row: Upload, tx_hash: str, block: int) -> None:
        with self._app.transaction() as tx:
            values = {"learning_id": row.learning_id, "hash": tx_hash, "block": block, "at": now()}
            tx.execute(query("upload_confirmed"), values)
            tx.execute(query("learning_uploaded"), {"id": row.learning_id})

    # -- asking the chain

    def _checked_chain(self) -> Chain:
        """The chain, after it has proved to be the one that is meant, with a contract on it."""
        chain = Chain(self._settings.chain)
        if not self._chain_checked:
            found = chain.chain_id()
            if found != self._settings.chain_id:
                raise Refused(f"{chain.name} is of chain {found}, not {self._settings.chain_id}: look at both settings")
            if not chain.has_code(self._settings.contract):
                raise Refused(
                    f"{chain.name} has no contract at {self._settings.contract}: see HOLDFAST_CAPTURE_CONTRACT"
                )
            self._chain_checked = True
        return chain

    def _anchored(self, chain: Chain, cid: str) -> registry.Known | None:
        try:
            return registry.answer_of(chain.call(self._settings.contract, registry.question_data(cid)))
        except ValueError:
            text = f"{self._settings.contract} does not answer as the registry does: see HOLDFAST_CAPTURE_CONTRACT"
            raise Garbled(text) from None

    @staticmethod
    def _newest(chain: Chain) -> Block:
        found = chain.block()
        if found is None:
            raise Garbled(f"{chain.name} has no newest block")
        return found

    @staticmethod
    def _out(chain: Chain, row: Upload) -> bool:
        return any(chain.knows(tx_hash) or chain.receipt(tx_hash) is not None for tx_hash in _hashes(row))

    def _fail(self, row: Upload, text: str) -> NoReturn:
        where = {"status": row.status, "hash": row.chain_tx_hash}
        if not rows.write(self._app, "upload_failed", row.learning_id, error=text, **where):
            raise _Overtaken
        raise rows.coded(holdfast.Permanent(text))


def _hashes(row: Upload) -> list[str]:
    """What may be out, the newest first."""
    return [tx_hash for tx_hash in (row.chain_tx_hash, row.tx_replaces) if tx_hash is not None]


def _higher(fee: int) -> int:
    """The least that nodes take for a replacement is a tenth more."""
    return fee + fee // 8 + 1

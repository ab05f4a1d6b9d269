"""An EVM chain through the JSON-RPC of one of its nodes. Every field of an answer is checked before it is used."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import Any, NamedTuple

from holdfast_pipelines.providers.outside import Garbled, Host, Refused, Unreachable, parsed

_BUSY = frozenset((-32005, -32603))  # limit exceeded, internal error
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")
_DATA = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
_LONGEST = 200  # characters of a node's own words
_HASH = 66  # characters


class NodeRefused(Exception):
    """The node understood and said no; `text` is what it said."""

    def __init__(self, name: str, code: int, text: str) -> None:
        super().__init__(f"{name} said: {text}")
        self.code = code
        self.text = text


class Receipt(NamedTuple):
    """Where a transaction was mined."""

    block: int
    block_hash: str
    succeeded: bool


class Block(NamedTuple):
    """The head of a block."""

    number: int
    hash: str
    base_fee: int


class Chain:
    """A node of a chain."""

    def __init__(self, address: str) -> None:
        self._host = Host(address)
        self._numbers = count(1)
        self.name = self._host.name

    def chain_id(self) -> int:
        return self._number(self._ask("eth_chainId"))

    def has_code(self, address: str) -> bool:
        return len(self._data(self._ask("eth_getCode", address, "latest"))) > 0

    def next_nonce(self, account: str, *, at: int | None = None) -> int:
        """How many transactions the account has sent: those that wait included, or up to a block."""
        return self._number(self._ask("eth_getTransactionCount", account, "pending" if at is None else hex(at)))

    def tip(self) -> int:
        return self._number(self._ask("eth_maxPriorityFeePerGas"))

    def gas(self, sender: str, to: str, data: str) -> int:
        """What the call would cost; NodeRefused if it would be reverted."""
        return self._number(self._ask("eth_estimateGas", {"from": sender, "to": to, "data": data}))

    def call(self, to: str, data: str) -> bytes:
        return self._data(self._ask("eth_call", {"to": to, "data": data}, "latest"))

    def send(self, raw: str) -> str:
        """Hand a signed transaction in; answers the hash that the node gives it."""
        return self._hash(self._ask("eth_sendRawTransaction", raw))

    def knows(self, tx_hash: str) -> bool:
        """Whether the node has the transaction: mined, or waiting."""
        found = self._ask("eth_getTransactionByHash", tx_hash)
        if found is None:
            return False
        if not isinstance(found, dict) or str(found.get("hash")).lower() != tx_hash:
            raise self._garbled()
        return True

    def receipt(self, tx_hash: str) -> Receipt | None:
        found = self._ask("eth_getTransactionReceipt", tx_hash)
        if found is None:
            return None
        if not isinstance(found, dict) or str(found.get("transactionHash")).lower() != tx_hash:
            raise self._garbled()
        block, status = self._number(found.get("blockNumber")), self._number(found.get("status"))
        return Receipt(block, self._hash(found.get("blockHash")), status == 1)

    def block(self, number: int | None = None) -> Block | None:
        """A block, by default the newest; None if there is none of this number."""
        found = self._ask("eth_getBlockByNumber", "latest" if number is None else hex(number), False)  # noqa: FBT003
        if found is None:
            return None
        if not isinstance(found, dict):
            raise self._garbled()
        fee = self._number(found.get("baseFeePerGas", "0x0"))
        return Block(self._number(found.get("number")), self._hash(found.get("hash")), fee)

    def transaction_of(self, contract: str, topics: list[str], block: int) -> str | None:
        """The transaction whose event in a block has these topics."""
        where = {"address": contract, "topics": topics, "fromBlock": hex(block), "toBlock": hex(block)}
        found = self._ask("eth_getLogs", where)
        if not isinstance(found, list):
            raise self._garbled()
        hashes = [one.get("transactionHash") for one in found if isinstance(one, dict)]
        return self._hash(hashes[0]) if hashes else None

    def _ask(self, method: str, *values: Any) -> Any:
        number = next(self._numbers)
        asked = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": values}).encode()
        try:
            answer = self._host.post("", asked, "application/json")
        except (Refused, Unreachable) as error:
            answer = error.body  # some nodes put their errors into answers that HTTP calls bad
            if not _is_error(answer):
                raise
        try:
            found = parsed(answer)
        except ValueError:
            raise self._garbled() from None
        if not isinstance(found, dict) or found.get("id") not in (number, None):
            raise self._garbled()
        if found.get("error") is not None:
            self._refused(found["error"])
        if found.get("id") is None or "result" not in found:
            raise self._garbled()
        return found["result"]

    def _refused(self, error: Any) -> None:
        code = error.get("code") if isinstance(error, dict) else None
        text = error.get("message") if isinstance(error, dict) else None
        if not isinstance(code, int) or not isinstance(text, str):
            raise self._garbled()
        text = _plain(text)
        if code in _BUSY and "revert" not in text.lower():
            raise Unreachable(f"{self.name} cannot answer now: {text}")
        raise NodeRefused(self.name, code, text)

    def _number(self, value: Any) -> int:
        if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
            raise self._garbled()
        return int(value, 16)

    def _data(self, value: Any) -> bytes:
        if not isinstance(value, str) or not _DATA.fullmatch(value):
            raise self._garbled()
        return bytes.fromhex(value[2:])

    def _hash(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) != _HASH or not _DATA.fullmatch(value):
            raise self._garbled()
        return value.lower()

    def _garbled(self) -> Garbled:
        return Garbled(f"{self.name} does not answer as a node of an EVM chain does")


def _is_error(answer: bytes) -> bool:
    try:
        found = parsed(answer)
    except ValueError:
        return False
    return isinstance(found, dict) and isinstance(found.get("error"), dict)


def _plain(text: str) -> str:
    """A node's words on one line, for people: others wrote them."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[: 2 * _LONGEST]).split())[:_LONGEST]

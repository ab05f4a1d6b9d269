"""The contract that anchors learnings, and the account that signs for them. Through web3, loaded when it is needed.

`LearningRegistry.sol` is the source; `LearningRegistry.json` is what the compiler made of it.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

_WORD = 32
_KEY = re.compile(r"[0-9a-fA-F]{64}")


class NoChain(Exception):
    """The extra `chain` is not installed."""


class BadKey(Exception):
    """What the environment holds is no private key; the text does not show it."""


class Signed(NamedTuple):
    """A transaction that can be sent: its bytes and its hash."""

    raw: str
    hash: str


class Known(NamedTuple):
    """What the contract knows of a CID."""

    contributor: str
    block: int


class Account:
    """The account of one private key."""

    def __init__(self, key: str) -> None:
        digits = key.strip().removeprefix("0x")
        if not _KEY.fullmatch(digits):
            raise BadKey("the private key is not 64 hexadecimal digits")
        accounts = _web3().Account
        try:
            self._account: LocalAccount = accounts.from_key(bytes.fromhex(digits))
        except Exception:  # noqa: BLE001  # whatever it says might quote the key
            raise BadKey("the private key is none of this curve") from None
        self.address = str(self._account.address).lower()

    def sign(self, fields: dict[str, Any]) -> Signed:
        """Sign a transaction of EIP-1559. Equal fields give equal bytes."""
        signed = self._account.sign_transaction(fields | {"type": 2, "value": 0})
        return Signed("0x" + bytes(signed.raw_transaction).hex(), "0x" + bytes(signed.hash).hex())


def fields_of(raw: str) -> dict[str, Any]:
    """What was signed."""
    _web3()
    from eth_account.typed_transactions.typed_transaction import TypedTransaction  # noqa: PLC0415
    from hexbytes import HexBytes  # noqa: PLC0415

    found = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
    names = ("chainId", "nonce", "to", "data", "gas", "maxFeePerGas", "maxPriorityFeePerGas")
    return {name: found[name] for name in names}


def upload_data(cid: str, metadata_hash: bytes, license_: str) -> str:
    """The call that anchors a CID."""
    return str(_contract().encode_abi("uploadLearning", args=[cid, metadata_hash, license_]))


def question_data(cid: str) -> str:
    """The call that asks who has anchored a CID."""
    return str(_contract().encode_abi("getLearning", args=[cid]))


def answer_of(words: bytes) -> Known | None:
    """What `getLearning` answered; None if nobody has anchored the CID. ValueError if it is no such answer."""
    if len(words) != 4 * _WORD:
        raise ValueError("not four words")
    contributor = "0x" + words[12:_WORD].hex()
    block = int.from_bytes(words[2 * _WORD : 3 * _WORD], "big")
    return Known(contributor, block) if int(contributor, 16) else None


def event_topics(cid: str) -> list[str]:
    """What the event of an anchored CID is found by."""
    signature = "LearningUploaded(bytes32,address,bytes32,string,string,uint256)"
    return ["0x" + keccak(signature.encode()).hex(), "0x" + keccak(cid.encode()).hex()]


def keccak(content: bytes) -> bytes:
    """Keccak-256, the chain's own hash."""
    return bytes(_web3().Web3.keccak(content))


def checksummed(address: str) -> str:
    """The address as signing wants it."""
    return str(_web3().Web3.to_checksum_address(address))


def compiled() -> dict[str, Any]:
    """ABI and bytecode."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "LearningRegistry.json").read_text(encoding="utf-8"))
    return found


@cache
def _contract() -> Any:
    return _web3().Web3().eth.contract(abi=compiled()["abi"])


def _web3() -> Any:
    limit = sys.getrecursionlimit()
    try:
        import web3  # noqa: PLC0415  # two seconds of a cold process, for uploads alone
    except ImportError:
        raise NoChain("the extra `chain` is not installed: pip install '/path/to/the/clone[chain]'") from None
    finally:
        sys.setrecursionlimit(limit)  # it lets the whole process recurse further than a stack can bear
    return web3

"""Where learnings are shared, from the environment. Only hosts that are named here are ever dialled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast_pipelines.providers.outside import BadAddress, Host

if TYPE_CHECKING:
    from collections.abc import Mapping

IPFS = "HOLDFAST_CAPTURE_IPFS"
CHAIN = "HOLDFAST_CAPTURE_CHAIN"
CHAIN_ID = "HOLDFAST_CAPTURE_CHAIN_ID"
CONTRACT = "HOLDFAST_CAPTURE_CONTRACT"
KEY_REF = "HOLDFAST_CAPTURE_KEY_REF"
CONFIRMATIONS = "HOLDFAST_CAPTURE_CONFIRMATIONS"
MAX_FEE = "HOLDFAST_CAPTURE_MAX_FEE"
MAX_TIP = "HOLDFAST_CAPTURE_MAX_TIP"
NEEDED = (IPFS, CHAIN, CHAIN_ID, CONTRACT, KEY_REF)
_GWEI = 1_000_000_000
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_MOST_CONFIRMATIONS = 100


class UploadSettings:
    """What is set, and in `wrong` what is not, or cannot be: one sentence each."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.wrong: list[str] = []
        self._environment = environment
        self.ipfs = self._address(IPFS)
        self.chain = self._address(CHAIN)
        self.chain_id = self._number(CHAIN_ID, None, lowest=1, highest=2**63 - 1)
        self.contract = self._contract()
        self.key = self._key()
        self.confirmations = self._number(CONFIRMATIONS, 3, lowest=1, highest=_MOST_CONFIRMATIONS)
        self.max_fee = self._gwei(MAX_FEE, "50")
        self.max_tip = self._gwei(MAX_TIP, "2")

    @property
    def unset(self) -> bool:
        """Whether nothing at all is set: sharing was never meant to reach further than this machine."""
        return not any(self._environment.get(name) for name in NEEDED)

    def advice(self) -> str:
        """What to do, as one sentence."""
        return f"nothing is sent until the worker's environment is right: {'; '.join(self.wrong)}"

    def refuse_others(self, ipfs: str | None, chain: dict[str, Any] | None) -> None:
        """A payload may repeat what is configured and can name nothing else: whoever enqueues does not choose hosts."""
        asked = chain or {}
        own = {
            "rpc_url": self.chain,
            "contract_address": self.contract,
            "private_key_ref": self._environment.get(KEY_REF),
        }
        if ipfs in {None, self.ipfs} and all(own.get(name) == value for name, value in asked.items()):
            return
        refusal = holdfast.Permanent(
            "the payload names another host, contract or key than the worker's environment does"
        )
        refusal.code = "UPLOAD_REFUSED"
        raise refusal

    def _address(self, name: str) -> str:
        value = self._environment.get(name, "")
        if not value:
            self.wrong.append(f"set {name}")
            return ""
        try:
            Host(value)
        except BadAddress as error:
            self.wrong.append(f"{name}: {error}")
        return value

    def _number(self, name: str, default: int | None, *, lowest: int, highest: int) -> int:
        value = self._environment.get(name, "")
        if not value and default is not None:
            return default
        if value.isdecimal() and value.isascii() and lowest <= int(value[:20]) <= highest:
            return int(value[:20])
        self.wrong.append(f"{name} is a number from {lowest} to {highest}" if value else f"set {name}")
        return 0

    def _gwei(self, name: str, default: str) -> int:
        value = self._environment.get(name) or default
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            whole, _, part = value.partition(".")
            return int(whole) * _GWEI + int(part.ljust(9, "0"))
        self.wrong.append(f"{name} is a number of gwei")
        return 0

    def _contract(self) -> str:
        value = self._environment.get(CONTRACT, "")
        if not _ADDRESS.fullmatch(value):
            self.wrong.append(f"{CONTRACT} is 0x and 40 hexadecimal digits" if value else f"set {CONTRACT}")
        return value.lower()

    def _key(self) -> str:
        reference = self._environment.get(KEY_REF, "")
        if not reference:
            self.wrong.append(f"set {KEY_REF} to the name of the variable that holds the private key")
            return ""
        key = self._environment.get(reference, "")
        if not key:  # the name is not shown: it may be a key that was put into the wrong place
            self.wrong.append(f"{KEY_REF} names a variable that is not set")
        return key

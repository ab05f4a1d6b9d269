"""A chain for the tests: anvil, and the compiler of its contracts, from npm. Each server is private to its test."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.servers.cached import cached
from tests.servers.packages import free_port, program

ANVIL, SOLC = "1.7.1", "0.8.37"
_COMPILE = """
const solc = require(process.argv[1] + '/node_modules/solc');
let source = '';
process.stdin.on('data', part => source += part).on('end', () => {
  const settings = {optimizer: {enabled: true, runs: 200}, evmVersion: 'paris',
    metadata: {bytecodeHash: 'none', appendCBOR: false}, outputSelection: {'*': {'*': ['abi', 'evm.bytecode.object']}}};
  const input = {language: 'Solidity', sources: {'one.sol': {content: source}}, settings};
  const made = JSON.parse(solc.compile(JSON.stringify(input)));
  const [contract] = Object.values(made.contracts['one.sol']);
  console.log(JSON.stringify({compiler: solc.version(), abi: contract.abi, bytecode: '0x' + contract.evm.bytecode.object}));
});
"""


def installed() -> Path:
    """Where the packages are; they are fetched if need be."""
    return cached(f"chain-{ANVIL}-{SOLC}", _fetch)


def compiled(source: str) -> dict[str, Any]:
    """What the compiler makes of a contract."""
    command = [program("node", package="nodejs"), "-e", _COMPILE, str(installed())]
    done = subprocess.run(command, input=source, capture_output=True, check=True, text=True)
    made: dict[str, Any] = json.loads(done.stdout)
    return made


class Anvil:
    """A chain of its own; blocks come by the second, or when they are asked for."""

    def __init__(self, *, block_time: float | None = None) -> None:
        (binary,) = installed().glob("node_modules/@foundry-rs/anvil-*/bin/anvil")
        self._folder = tempfile.TemporaryDirectory(prefix="holdfast-anvil-")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        blocks = ["--no-mining"] if block_time is None else ["--block-time", str(block_time)]
        with (Path(self._folder.name) / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(binary), "--host", "127.0.0.1", "--port", str(port), "--silent", *blocks],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"HOME": self._folder.name},
            )  # fmt: skip
        give_up = time.monotonic() + 20
        while not self._answers():
            assert time.monotonic() < give_up, (Path(self._folder.name) / "log").read_text()
            time.sleep(0.02)
        self.unlocked: str = self.ask("eth_accounts")[0]

    def ask(self, method: str, *values: Any) -> Any:
        """One request; AssertionError if the node refuses it."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": values}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            found = json.load(answer)
        assert "error" not in found, found
        return found["result"]

    def mine(self, blocks: int = 1) -> None:
        self.ask("anvil_mine", hex(blocks))

    def fund(self, account: str, wei: int = 10**20) -> None:
        self.ask("anvil_setBalance", account, hex(wei))

    def deploy(self, bytecode: str) -> str:
        """The address of a new contract."""
        sent = self.ask("eth_sendTransaction", {"from": self.unlocked, "data": bytecode, "gas": hex(3_000_000)})
        self.mine()
        give_up = time.monotonic() + 20
        while (receipt := self.ask("eth_getTransactionReceipt", sent)) is None:
            assert time.monotonic() < give_up, "the contract was not mined"
            time.sleep(0.05)
        address: str = receipt["contractAddress"]
        return address

    def transactions_of(self, account: str) -> list[dict[str, Any]]:
        """All that stand in blocks."""
        newest = int(self.ask("eth_blockNumber"), 16)
        blocks = (self.ask("eth_getBlockByNumber", hex(number), True) for number in range(newest + 1))
        return [one for block in blocks for one in block["transactions"] if one["from"].lower() == account.lower()]

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def _answers(self) -> bool:
        try:
            return bool(self.ask("eth_chainId"))
        except OSError:
            return False


def _fetch(folder: Path) -> None:
    print("No anvil was found: about to fetch it from npm", file=sys.stderr)  # noqa: T201
    npm = program("npm", package="npm")
    (folder / "package.json").write_text("{}")
    packages = [f"@foundry-rs/anvil@{ANVIL}", f"solc@{SOLC}"]
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]  # nothing of theirs is run at installation
    subprocess.run([npm, "install", *flags, *packages], cwd=folder, check=True, stdout=sys.stderr)

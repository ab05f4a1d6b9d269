"""Somebody who shares learnings: a node, a chain with the contract, a gate before each, and the worker's side."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import holdfast
from holdfast.testing import Clock, drain
from holdfast_pipelines.capture import learnings, record, uploads
from holdfast_pipelines.capture.jobs import application
from holdfast_pipelines.capture.marks import new_id, now
from holdfast_pipelines.providers import registry
from tests.pipelines.capture.gate import Gate
from tests.servers import kubo
from tests.servers.anvil import Anvil

ALL = os.environ.get("HOLDFAST_UPLOADS") == "all"  # the whole of what is tested in samples otherwise
TEXT = "Use one guarded update instead of a read and a write, and look at the number of rows that it changed."


class Sharer:
    """A user with sharing turned on. Blocks come when `mine` is called, or every `block_time` seconds; time passes when
    the clock is moved, or by itself (`beside_workers`).
    """

    def __init__(self, folder: Path, *, block_time: float | None = None, beside_workers: bool = False) -> None:
        self.folder = folder / "data"
        self.node = kubo.node()
        self.anvil = Anvil(block_time=block_time)
        self.ipfs, self.chain = Gate(self.node.url), Gate(self.anvil.url)
        self.key = secrets.token_hex(32)
        self.account = registry.Account(self.key).address
        self.anvil.fund(self.account)
        self.contract = self.anvil.deploy(registry.compiled()["bytecode"])
        self.environment = {
            "HOLDFAST_CAPTURE_FOLDER": str(self.folder),
            # A test's power is not cut: it need not wait for the disk.
            "HOLDFAST_CAPTURE_URL": f"sqlite:///{self.folder / 'capture.db'}?synchronous=normal",
            "HOLDFAST_CAPTURE_IPFS": self.ipfs.url,
            "HOLDFAST_CAPTURE_CHAIN": self.chain.url,
            "HOLDFAST_CAPTURE_CHAIN_ID": "31337",
            "HOLDFAST_CAPTURE_CONTRACT": self.contract,
            "HOLDFAST_CAPTURE_KEY_REF": "WALLET_KEY",
            "HOLDFAST_CAPTURE_CONFIRMATIONS": "2",
            "WALLET_KEY": self.key,
        }
        self.clock = Clock(datetime.now(UTC))
        moves = {} if beside_workers else {"clock": self.clock}
        self.app = application(self.environment, **moves)
        learnings.sharing(self.app, turn=True)
        self._before = self.node.pins()

    def close(self) -> None:
        self.app.close()
        self.ipfs.close()
        self.chain.close()
        self.anvil.stop()

    # -- what there is

    def learning(self, text: str = TEXT) -> str:
        """A learning that was extracted from a conversation."""
        conversation, name = new_id(), new_id()
        with self.app.transaction() as tx:
            record.ensure_tables(tx)
            tx.execute(
                "insert into conversations (id, session_id, correlation_id, project, created_at, updated_at,"
                " sanitization_version) values (:id, :id, :id, '/srv/secret-project', :at, :at, '1')",
                {"id": conversation, "at": now()},
            )
            tx.execute(
                "insert into learnings (id, conversation_id, source_message_ids, category, title, content, confidence,"
                " tags, dedupe_hash, simhash, created_at)"
                " values (:id, :conversation, '[]', 'bug_fix', 'Guarded updates', :text, 0.9, '[\"sql\"]', :id, 0, :at)",
                {"id": name, "conversation": conversation, "text": text, "at": now()},
            )
        return name

    def approved(self, text: str = TEXT) -> str:
        name = self.learning(text)
        learnings.approve(self.app, name)
        return name

    def upload(self, name: str) -> uploads.Upload:
        return uploads.get(self.app, name)

    def job(self) -> holdfast.Job:
        """The newest upload job."""
        return self.app.jobs(type="mine_upload", limit=1)[0]

    def pins(self) -> set[str]:
        return self.node.pins() - self._before

    def transactions(self) -> list[dict[str, Any]]:
        return self.anvil.transactions_of(self.account)

    # -- what happens

    def work(self) -> None:
        """Run what is due now."""
        drain(self.app)

    def until(self, name: str, *statuses: str, rounds: int = 40) -> uploads.Upload:
        """Let time pass and blocks come until the upload is there."""
        for _ in range(rounds):
            self.work()
            found = self.upload(name)
            if found.status in statuses:
                return found
            self.anvil.mine()
            self.clock.advance(61)
        raise AssertionError(f"the upload is {found.status}: {found.last_error}; job {self.job()}")

    def assert_shared_once(self, *names: str) -> None:
        """One pin and one transaction each, and no others; the contract knows each."""
        found = [self.upload(name) for name in names]
        assert {one.status for one in found} == {"confirmed"}
        assert self.pins() == {one.ipfs_cid for one in found}
        mined = self.transactions()
        assert sorted(one["hash"] for one in mined) == sorted(one.chain_tx_hash or "" for one in found)
        for one in mined:
            receipt = self.anvil.ask("eth_getTransactionReceipt", one["hash"])
            assert (receipt["status"], len(receipt["logs"])) == ("0x1", 1)

    # -- real processes

    def worker(self) -> subprocess.Popen[bytes]:
        """`holdfast worker`, as the guide says."""
        command = [sys.executable, "-m", "holdfast", "worker", "holdfast_pipelines.capture.work:app"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        with (self.folder / "worker.log").open("ab") as log:
            return subprocess.Popen(
                [*command, "--queues", "capture=4"],
                env=environment | self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def kill(worker: subprocess.Popen[bytes]) -> None:
    """End a worker with all its processes, at once: what cannot be caught comes to them all."""
    worker.send_signal(signal.SIGSTOP)  # so that it starts no child while its children are looked for
    family = [worker.pid]
    for one in family:
        with suppress(OSError):
            family += [int(child) for child in Path(f"/proc/{one}/task/{one}/children").read_text().split()]
    for one in family:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def document(node: kubo.Kubo, cid: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(node.ask("cat", arg=cid))
    return found

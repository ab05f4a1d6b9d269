"""A process that enqueues, or claims and finishes, and follows its queue: FILE DATABASE enqueue|work WITNESS STOP.

Each thing that was acknowledged is written to the witness, a line at a time, with the store that acknowledged it.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from holdfast import App
from holdfast.model.errors import StoreError
from tests.store.given import DONE, claim, finish


def main(file: str, database: str, what: str, witness: str, stop: str) -> None:
    urls = [file, database]
    app = App(urls[0])
    with Path(witness).open("a", encoding="utf-8", buffering=1) as lines:
        while not Path(stop).exists():
            try:
                if what == "enqueue":
                    lines.write(f"{urls[0][:4]} {app.enqueue('mail', {}).id}\n")
                else:
                    work(app, lines, urls[0][:4])
                time.sleep(0.001)
            except StoreError as error:
                if error.code != "STORE_MOVED":
                    raise
                app.close()
                urls.reverse()
                app = App(urls[0])
    app.close()


def work(app: App, lines, where: str) -> None:
    for run in claim(app.desk.store, owner=f"{os.getpid()}", limit=3):
        lines.write(f"{where} {run.id} {run.token}\n")
        if not finish(app.desk.store, run, DONE):
            lines.write(f"late {run.id} {run.token}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

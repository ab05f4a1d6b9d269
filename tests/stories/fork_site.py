"""A small site for gunicorn --preload: its connections are open, and a thread is writing, when the workers are forked."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from holdfast import App

app = App(os.environ["HOLDFAST_URL"])
app.enqueue("preload")


def keep_writing() -> None:
    while True:
        app.enqueue("main process")
        time.sleep(0.001)


def site(_: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Each request is a job; the answer is its id."""
    answer = app.enqueue("request").id.encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(answer)))])
    return [answer]


threading.Thread(target=keep_writing, daemon=True).start()

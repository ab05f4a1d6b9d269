"""Jobs that belong together: orders whose steps follow each other, a batch, a limit, the newest request, and one that
waits for a person.
"""

from __future__ import annotations

import asyncio
import os
from time import time_ns
from typing import Any

import holdfast
from demo.app import app
from holdfast import Handle
from holdfast.batches import Batch
from holdfast.webhooks import new_secret

SITES = ("alpha.example", "beta.example", "gamma.example")
SHOP, LETTERS = "demo-orders", "demo-letters"

os.environ.setdefault("HOLDFAST_SECRET", new_secret())  # what a person answers is kept encrypted
app.limit("site", concurrency=1)


@app.job(queue="shop")
async def pay(order: int) -> dict[str, int]:
    """The first step of an order."""
    await asyncio.sleep(0.3)
    return {"order": order}


@app.job(queue="shop")
async def ship(order: int, job: holdfast.JobContext) -> None:
    """Waits until it is paid for; the thanks are stored with its end, in one transaction."""
    await asyncio.sleep(0.2)
    job.follow_up(thank, order=order)


@app.job(queue="shop")
async def thank(order: int) -> str:
    """The last step."""
    return f"order {order} is on its way"


@app.job(queue="documents")
def measure(word: str) -> int:
    """One item of many: they run in chunks, and each has an outcome of its own."""
    return len(word)


@app.job(queue="documents")
def add_up(batch: str) -> dict[str, Any]:
    """Enqueued once, when every word was measured."""
    return app.batch(batch).progress()


def _of_site(site: str, **_: object) -> list[str]:
    return [f"site:{site}"]


@app.job(queue="web", limits=_of_site)
async def visit(site: str, page: int) -> str:
    """One at a time for each site, however many wait."""
    await asyncio.sleep(0.2)
    return f"{site}/{page}"


@app.job
async def index(page: str, version: int) -> str:
    """Only the newest request for a page is worth the work."""
    await asyncio.sleep(0.1)
    return f"{page} as of version {version}"


@app.job
async def publish(title: str, job: holdfast.JobContext) -> str:
    """Asks a person first, and holds nothing while it waits."""
    if job.auth is None:
        raise holdfast.AwaitAuth(f"may {title!r} be published?", "https://example.org/approve", key="demo")
    return f"published, as {job.auth['by']} said"


@app.job(type="pulse", priority=8)
async def pulse() -> None:
    """Comes again and again, by its schedule."""


app.schedule("demo-pulse", pulse, every=5)


def feed() -> tuple[dict[str, list[Handle]], Batch]:
    """Enqueue some of each."""
    paid = [pay.using(group=SHOP).enqueue(order=number) for number in range(5)]
    words = [{"word": word} for word in (__doc__ * 20).split()]
    batch = app.map(measure, words, chunk=50, callback=add_up, group=LETTERS)
    return {
        "pay": paid,
        "ship": [
            ship.using(group=SHOP, depends_on=[handle]).enqueue(order=number) for number, handle in enumerate(paid)
        ],
        "visit": [visit.enqueue(site=site, page=page) for site in SITES for page in range(4)],
        "index": [
            index.using(coalesce_key="home", sequence=version, delay=1).enqueue("home", version)
            for version in _versions()
        ],
        "publish": [publish.enqueue(title="the demo")],
    }, batch


def _versions() -> range:
    """Five newer ones than any demo before."""
    now = time_ns() // 1_000_000
    return range(now, now + 5)


def approve(handles: list[Handle]) -> None:
    """What a person would do, once they are asked."""
    for handle in handles:
        if handle.status() == "awaiting_auth":
            app.resume(handle.id, data={"by": "the demo"}, actor="demo")

"""What goes over a network: news as JSON, small and bounded. Anyone may have sent it, so nothing in it is believed."""

from __future__ import annotations

import json

from holdfast.model.news import News

EVERYTHING = "*"
_PROBE = b"probe "
_MOST_NAMED = 16
_LARGEST = 4096


def merge(into: News, news: News) -> None:
    """Add news to news; long lists become one word for everything, so that nothing grows while nobody takes it."""
    into.queues |= news.queues
    into.jobs += news.jobs
    into.groups |= news.groups
    if len(into.queues) > _MOST_NAMED:
        into.queues = {EVERYTHING}
    if len(into.jobs) > _MOST_NAMED:
        into.jobs = [EVERYTHING]
    if len(into.groups) > _MOST_NAMED:
        into.groups = {EVERYTHING}


def pack(news: News) -> bytes:
    """News as a message; long lists become one word for everything."""
    jobs = news.jobs if len(news.jobs) <= _MOST_NAMED else [EVERYTHING]
    queues = sorted(news.queues) if len(news.queues) <= _MOST_NAMED else [EVERYTHING]
    groups = sorted(news.groups) if len(news.groups) <= _MOST_NAMED else [EVERYTHING]
    told = {"job_id": jobs[0] if jobs else None, "queues": queues, "jobs": jobs}
    message = json.dumps(told | {"groups": groups} if groups else told).encode()
    return message if len(message) <= _LARGEST else pack(News.of_everything())


def unpack(message: bytes) -> News:
    """What a message says; one that cannot be read is a reason to look everywhere."""
    news = News.of_everything()
    if len(message) > _LARGEST:
        return news
    try:
        said = json.loads(message)
        queues, jobs, groups = said["queues"], said["jobs"], said.get("groups", [])
    except (ValueError, KeyError, TypeError, RecursionError):
        return news
    if not _names(queues) or not _names(jobs) or not _names(groups):
        return news
    news.queues, news.jobs, news.groups = set(queues), list(jobs), set(groups)
    return news


def probe(mark: str) -> bytes:
    """What an ear sends to itself."""
    return _PROBE + mark.encode()


def is_probe(message: bytes) -> bool:
    """Whether it was meant for one ear alone."""
    return message.startswith(_PROBE)


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)

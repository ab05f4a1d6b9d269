"""What goes over a network is small, and nothing in it is believed."""

from __future__ import annotations

import pytest

from holdfast.model.errors import BadInput
from holdfast.model.news import News
from holdfast.signals.message import merge, pack, unpack
from holdfast.wiring import open_signal


def news(*queues, jobs=()):
    one = News()
    one.queues.update(queues)
    one.jobs.extend(jobs)
    return one


def test_news_survive_the_way():
    found = unpack(pack(news("a", "b", jobs=["J"])))
    assert found.queues == {"a", "b"}
    assert found.jobs == ["J"]


def test_a_message_is_small_whatever_it_tells():
    many = news(*(f"queue{number}" for number in range(20)), jobs=[f"J{number}" for number in range(10_000)])
    assert unpack(pack(many)).queues == {"*"}
    assert unpack(pack(many)).jobs == ["*"]
    long = news(*(f"{number}" * 1000 for number in range(9)))
    assert unpack(pack(long)).queues == {"*"}


def test_news_that_nobody_takes_do_not_grow():
    kept = News()
    for number in range(10_000):
        merge(kept, news(f"queue{number}", jobs=[f"J{number}"]))
    assert len(kept.queues) <= 16
    assert len(kept.jobs) <= 16
    assert "*" in kept.queues


@pytest.mark.parametrize(
    "signal",
    [
        "carrier-pigeon://host",
        "redis://host:no-port/0",
        "redis://host/0?socket_timeout=soon",
        "amqp://host:no-port/",
        "amqp://host:1/?heartbeat=x",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_repeating_it(tmp_path, signal):
    with pytest.raises(BadInput) as refused:
        open_signal(f"sqlite:///{tmp_path}/jobs.db", signal.replace("//", "//user:secret@"))
    assert refused.value.code == "BAD_OPTION"
    assert "secret" not in str(refused.value)

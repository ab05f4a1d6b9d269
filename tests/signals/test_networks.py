"""Redis, RabbitMQ and NOTIFY: what is told is heard, and whatever else happens costs only time."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import pytest

from holdfast import wiring
from holdfast.signals import ear as ears
from holdfast.signals import pace as paces
from holdfast.signals import relay
from holdfast.signals.postgres import PostgresLine
from holdfast.signals.relay import RelaySignal
from tests.patience import wait_for, within
from tests.signals.networks import Stranger, heard, hears_of, network_of, news, proven, proxied, url_of

pytestmark = pytest.mark.slow


def test_of_many_ears_one_sends_the_probe(kind, open_signal, listen, monkeypatch):
    """Whoever hears it knows as much as whoever sent it."""
    monkeypatch.setattr(ears, "PROBE_EVERY", 0.5)
    monkeypatch.setattr(ears, "SPREAD", 3)
    sent = []
    send = ears._Probes.send_if_due

    def counting(probes):
        before = probes.sent
        send(probes)
        sent.extend([time.monotonic()] * (probes.sent - before))

    monkeypatch.setattr(ears._Probes, "send_if_due", counting)
    all_ears = [listen(open_signal(kind)) for _ in range(4)]
    sent.clear()
    time.sleep(5)
    assert all(ear.proven for ear in all_ears)
    assert 3 <= len(sent) <= 13, "one each half second, and now and then two at the same instant"


def test_an_ear_that_is_not_proven_goes_on_probing_whatever_it_hears(kind, open_signal, listen, monkeypatch):
    monkeypatch.setattr(ears, "PROBE_EVERY", 0.3)
    ear = listen(open_signal(kind))
    ear.proven = False
    with Stranger(kind) as stranger:
        for _ in range(10):
            stranger.say(b'{"queues": ["q"], "jobs": []}')
            time.sleep(0.1)
    assert proven(ear)


def test_a_new_ear_asks_for_one_look_at_everything(kind, open_signal, request):
    ear = open_signal(kind).listen("ear")
    request.addfinalizer(ear.close)
    assert heard(ear).queues == {"*"}


def test_closing_a_signal_sends_the_last_message(kind, open_signal, listen):
    ear = listen(open_signal(kind))
    signal = RelaySignal(network_of(kind), lambda: "")
    signal.tell(news("last"))
    signal.close()
    assert hears_of(ear, "last")


def test_a_signal_that_was_closed_can_be_used_again(kind, open_signal, listen):
    signal = open_signal(kind)
    ear = listen(signal)
    for queue in ("one", "two"):
        signal.tell(news(queue))
        signal.close()
        assert hears_of(ear, queue)


def test_a_burst_arrives_as_a_few_messages_and_nothing_of_it_is_lost(kind, open_signal, listen):
    signal = open_signal(kind)
    ear = listen(signal)
    for number in range(2_000):
        signal.tell(news("burst", jobs=(f"J{number}",)))
    signal.tell(news("end"))
    assert hears_of(ear, "end")


LIES = (
    b"", b"\x01\x02", b"null", b"[]", b"{}", b'"text"', b"1e999", b"[" * 3000, b'{"queues": 1, "jobs": {}}',
    b'{"queues": [1], "jobs": [null]}', b'{"queues": "default", "jobs": []}', b"x" * 7_000,
    b'{"job_id": "00000000000000000000000000"}', b"probe forged",
)  # fmt: skip


def test_a_lie_is_at_most_a_reason_to_look(kind, open_signal, listen):
    signal = open_signal(kind)
    ear = listen(signal)
    seen = set()
    with Stranger(kind) as stranger:
        for number, lie in enumerate(LIES):
            stranger.say(lie)
            signal.tell(news(f"truth {number}"))
            assert wait_for(lambda: seen.update(ear.receive().queues) or f"truth {number}" in seen), lie  # noqa: B023
    assert seen == {"*"} | {f"truth {number}" for number in range(len(LIES))}
    assert ear.proven


@pytest.mark.parametrize("kind", ["redis", "rabbitmq"])
def test_a_huge_message_is_read_past(kind, open_signal, listen):
    signal = open_signal(kind)
    ear = listen(signal)
    with Stranger(kind) as stranger:
        stranger.say(b"\xff" * 5_000_000)
    signal.tell(news("truth"))
    assert hears_of(ear, "truth")


def test_news_that_has_time_goes_later_in_one_message_or_with_what_has_none(open_signal, listen, monkeypatch):
    sent = []
    send = relay.RelaySignal._send
    monkeypatch.setattr(
        relay.RelaySignal, "_send", lambda self, line, message: sent.append(message) or send(self, line, message)
    )
    signal = open_signal("postgres")
    ear = listen(signal)
    for _ in range(50):
        signal.tell(news("crowded", patient=True))
    assert not sent
    assert hears_of(ear, "crowded")
    assert len(sent) == 1
    signal.tell(news("crowded", patient=True))
    signal.tell(news("urgent"))
    assert hears_of(ear, "urgent")
    assert b"crowded" in sent[1]


def test_news_that_has_time_does_not_wait_for_the_last_look_at_an_open_transaction(open_signal, listen, monkeypatch):
    monkeypatch.setattr(relay, "EARLY", (0.02, 120.0))
    signal = open_signal("postgres")
    ear = listen(signal)
    signal.tell_early(news("early"))
    assert hears_of(ear, "early")
    signal.tell(news("crowded", patient=True))
    assert hears_of(ear, "crowded")


def test_who_closes_does_not_wait_for_the_rest_of_a_burst(kind, open_signal, listen, monkeypatch):
    monkeypatch.setattr(relay, "GATHER", 30.0)
    monkeypatch.setattr(paces, "GATHER", 30.0)
    monkeypatch.setattr(paces, "AT_ONCE", 1)
    signal = open_signal(kind)
    ear = listen(signal)
    signal.tell(news("first"))
    assert hears_of(ear, "first")
    signal.tell(news("last"))
    begun = time.perf_counter()
    signal.close()
    assert time.perf_counter() - begun < within(1)
    assert hears_of(ear, "last")


def test_a_server_that_hangs_up_is_said_once_and_called_again(kind, open_signal, listen, caplog):
    caplog.set_level(logging.WARNING, "holdfast.signals")
    with proxied(kind) as (proxy, url):
        signal = open_signal(kind, url)
        ear = listen(signal)
        signal.tell(news("before"))
        assert hears_of(ear, "before")
        proxy.refuse()
        assert wait_for(lambda: not ear.proven)
        assert heard(ear).queues == {"*"}, "who relied on the ear is woken"
        signal.tell(news("while it is away"))
        time.sleep(0.5)
        assert not ear.proven
        said = [record.getMessage() for record in caplog.records]
        assert len([text for text in said if "nothing is heard" in text]) == 1
        assert len([text for text in said if "nothing can be told" in text]) <= 1
        proxy.heal()
        assert proven(ear)
        assert "*" in heard(ear).queues, "anything may have been missed"
        signal.tell(news("again"))
        assert hears_of(ear, "again")
        ear.close()
        signal.close()


def test_what_could_not_be_told_is_told_when_the_server_is_back(kind, open_signal, listen):
    ear = listen(open_signal(kind))
    with proxied(kind) as (proxy, url):
        signal = open_signal(kind, url)
        proxy.refuse()
        signal.tell(news("kept"))
        time.sleep(0.3)
        proxy.heal()
        assert hears_of(ear, "kept")
        signal.close()


def test_a_server_that_falls_silent_never_holds_up_whoever_tells(kind, open_signal, listen, monkeypatch):
    monkeypatch.setattr(ears, "PROBE_EVERY", 0.5)
    monkeypatch.setattr(ears, "PROBE_SECONDS", 0.5)
    with proxied(kind) as (proxy, url):
        signal = open_signal(kind, url)
        ear = listen(signal)
        signal.tell(news("before"))
        assert hears_of(ear, "before")
        proxy.swallow()
        slowest = 0.0
        for number in range(1_000):
            begun = time.perf_counter()
            signal.tell(news(f"q{number}", jobs=(f"J{number}",)))
            slowest = max(slowest, time.perf_counter() - begun)
        assert slowest < 0.2
        assert len(signal._pending.jobs) <= 16
        assert len(signal._pending.queues) <= 16
        assert wait_for(lambda: not ear.proven)
        proxy.heal()
        assert proven(ear)
        begun = time.perf_counter()
        ear.close()
        signal.close()
        assert time.perf_counter() - begun < 5


def test_an_ear_that_is_doubted_is_proven_by_the_next_probe(kind, open_signal, listen):
    ear = listen(open_signal(kind))
    ear.doubt()
    assert not ear.proven
    wait_for(lambda: ear.proven)


def test_an_ear_whose_line_was_cut_unnoticed_is_doubted_and_connects_again(open_signal, listen, monkeypatch):
    monkeypatch.setattr(ears, "PROBE_SECONDS", 0.3)
    signal = open_signal("postgres")
    ear = listen(signal)
    heard(ear, 0.5)
    with monkeypatch.context() as deaf:
        deaf.setattr(PostgresLine, "receive", lambda *_: time.sleep(0.05) or [])
        ear.doubt()
        assert wait_for(lambda: heard(ear, 0.1))  # connected anew, and everything is to be looked at
        assert not ear.proven
    wait_for(lambda: ear.proven)
    signal.tell(news("after"))
    assert hears_of(ear, "after")


def test_an_ear_that_gets_nothing_through_says_so_once_and_is_not_proven(
    kind, open_signal, request, caplog, monkeypatch
):
    """As behind a pooler in transaction mode: connected, and deaf."""
    caplog.set_level(logging.WARNING, "holdfast.signals")
    monkeypatch.setattr(ears, "PROBE_EVERY", 0.4)
    monkeypatch.setattr(ears, "PROBE_SECONDS", 0.3)
    network = network_of(kind)
    real = network.connect

    class Deaf:
        def send(self, message): ...
        def close(self): ...

    monkeypatch.setattr(network, "connect", lambda *, hear: real(hear=True) if hear else Deaf())
    ear = RelaySignal(network, lambda: "").listen("ear")
    request.addfinalizer(ear.close)
    assert wait_for(lambda: caplog.records)
    time.sleep(1)
    assert not ear.proven
    assert len(caplog.records) == 1
    assert network.suspect in caplog.text


def test_nothing_is_left_open_by_ears_and_signals(kind, open_signal, listen):
    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir()))

    signal = open_signal(kind)
    listen(signal)  # what the drivers load once is loaded
    before, threads = descriptors(), threading.active_count()
    for _ in range(5):
        one = RelaySignal(network_of(kind), lambda: "")
        ear = one.listen("ear")
        assert proven(ear)
        one.tell(news("a"))
        ear.close()
        ear.close()
        one.close()
    assert wait_for(lambda: threading.active_count() <= threads)
    assert descriptors() <= before + 1


def test_who_fetches_is_asked_first_on_a_thread_of_the_ears_own(kind, open_signal, listen):
    signal = open_signal(kind)
    ear = listen(signal)
    asked = []

    def fetch():
        asked.append(threading.current_thread())
        return len(asked) == 1

    ear.fetch = fetch
    signal.tell(news("seen to"))
    wait_for(lambda: asked, "to be asked")
    signal.tell(news("left to others"))
    assert "left to others" in heard(ear).queues  # and nothing before it
    assert threading.current_thread() not in asked
    signal.tell(news(jobs=("J",)))
    assert heard(ear).jobs == ["J"]
    assert len(asked) == 2  # news without work is nothing to fetch


def test_a_lone_commit_may_carry_its_word_and_those_of_a_burst_are_told_together(listen, request):
    signal = wiring.open_signal(url_of("postgres"))
    request.addfinalizer(signal.close)
    ear = listen(signal)
    words = [signal.word(news("q")) for _ in range(paces.AT_ONCE + 3)]
    assert words[: paces.AT_ONCE - 1] == ['{"job_id": null, "queues": ["q"], "jobs": []}'] * (paces.AT_ONCE - 1)
    assert words[paces.AT_ONCE :] == [None] * 3
    told = news("q")
    told.told = True
    signal.tell(told)  # it went out with its commit
    signal.tell(news("r"))
    assert heard(ear).queues == {"r"}


def test_only_the_server_that_stores_the_jobs_carries_words_with_them(kind, open_signal):
    assert open_signal(kind).word is None

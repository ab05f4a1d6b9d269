"""No form of address leads to a connection inside the network that the worker stands in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from holdfast import App, BadInput
from holdfast.testing import drain, temporary_app
from holdfast.webhooks import Endpoint, new_secret
from tests.webhooks import forms
from tests.webhooks.forms import PUBLIC, PUBLIC_6, Form
from tests.webhooks.receiver import Receiver, receiving

HOST_DECIDES = [
    *forms.where_only_the_host_decides(),
    *forms.where_letters_are_slipped_in(),
    *forms.where_the_name_server_lies(),
]
RULES_DECIDE = forms.where_scheme_and_port_decide()


class Site:
    """An application whose one endpoint is wherever the test says."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.url = ""
        self.secret = new_secret()
        app.webhooks.find(lambda _name, _tenant: Endpoint(url=self.url, secrets=[self.secret], timeout=5))

    def deliver(self, url: str):
        """The delivery to that address, after one attempt."""
        self.url = url
        handle = self.app.webhooks.deliver("anywhere", "ping")
        drain(self.app)
        job = handle.job()
        if not job.ended:
            handle.cancel()  # or it would be tried again while another form is on trial
        return job


@pytest.fixture(scope="module")
def traps() -> Iterator[list[Receiver]]:
    """Listeners on one port of the loopback addresses that the forms aim at."""
    with ExitStack() as stack:
        first = stack.enter_context(receiving(host="127.0.0.1"))
        yield [first, *(stack.enter_context(receiving(host=host, port=first.port)) for host in ("127.0.0.2", "::1"))]


@pytest.fixture(scope="module")
def open_site(traps) -> Iterator[Site]:
    """Plain http, and the traps' port: only the host can still be refused."""
    with temporary_app() as app:
        app.webhooks.allow(http=True, ports=[traps[0].port])
        yield Site(app)


@pytest.fixture(scope="module")
def strict_site() -> Iterator[Site]:
    with temporary_app() as app:
        yield Site(app)


def shown(form: Form) -> str:
    return ascii(form.url[:60]) + "".join(f" {answer}" for answer in form.answers)


def test_there_are_more_than_two_hundred_different_forms():
    assert len(set(HOST_DECIDES)) == len(HOST_DECIDES)
    assert len(HOST_DECIDES) + len(set(RULES_DECIDE)) >= 400


@pytest.mark.parametrize("form", HOST_DECIDES, ids=shown)
def test_no_connection_is_made_whatever_the_host_looks_like(form, open_site, traps, named, connections):
    named.table["trap.test"] = [list(form.answers)]
    before = [trap.connections for trap in traps]

    job = open_site.deliver(form.url.replace("{port}", str(traps[0].port)))

    assert connections == []
    assert [trap.connections for trap in traps] == before
    assert (job.status, job.error["code"]) == ("failed", "WEBHOOK_REFUSED")
    assert form.why in job.error["message"]


@pytest.mark.parametrize("form", RULES_DECIDE, ids=shown)
def test_no_connection_is_made_with_another_scheme_or_port(form, strict_site, named, connections):
    named.table["trap.test"] = [list(form.answers)]
    job = strict_site.deliver(form.url)
    assert connections == []
    assert (job.status, job.error["code"]) == ("failed", "WEBHOOK_REFUSED")
    assert form.why in job.error["message"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "[::1]"])
def test_the_traps_would_have_seen_a_connection(host, app, traps, connections):
    app.webhooks.allow(http=True, private=["127.0.0.0/8", "::1/128"], ports=[traps[0].port])
    before = sum(trap.connections for trap in traps)
    assert Site(app).deliver(f"http://{host}:{traps[0].port}/").status == "completed"
    assert sum(trap.connections for trap in traps) == before + 1
    assert connections == [host.strip("[]")]


@pytest.mark.parametrize(
    ("url", "answers", "reached"),
    [
        (f"https://{PUBLIC}/", (), [PUBLIC]),
        (f"https://[{PUBLIC_6}]/hook?a=b", (), [PUBLIC_6]),
        ("https://trap.test/", (PUBLIC,), [PUBLIC]),
        ("https://TRAP.test:443/a%20b", (PUBLIC, PUBLIC_6), [PUBLIC, PUBLIC_6]),
        ("HTTPS://trap.test?a=b", (PUBLIC_6,), [PUBLIC_6]),
        ("https://xn--bcher-kva.test/", (PUBLIC,), [PUBLIC]),
        ("https://192.0.1.1/", (), ["192.0.1.1"]),
        ("https://172.32.0.1/", (), ["172.32.0.1"]),
        ("https://[2001:4860:4860::8888]/", (), ["2001:4860:4860::8888"]),
    ],
)
def test_what_is_public_is_let_through(strict_site, named, connections, *, url, answers, reached):
    named.table |= {name: [list(answers)] for name in ("trap.test", "xn--bcher-kva.test")}
    job = strict_site.deliver(url)
    assert connections == reached  # the test turned them away there
    assert (job.status, job.error["code"]) == ("queued", "WEBHOOK_UNREACHABLE")


def test_a_name_is_looked_up_once_so_a_flip_changes_nothing(app, named, connections):
    with receiving(host="127.0.0.1") as meant, receiving(host="127.0.0.2", port=meant.port) as trap:
        app.webhooks.allow(http=True, private=["127.0.0.1/32"], ports=[meant.port])
        named.table["flip.test"] = [["127.0.0.1"], ["127.0.0.2"]]
        job = Site(app).deliver(f"http://flip.test:{meant.port}/")

    assert (job.status, connections) == ("completed", ["127.0.0.1"])
    assert (len(meant.requests), trap.connections) == (1, 0)
    assert named.questions.count(("flip.test", 1)) == 1
    assert meant.requests[0].headers["host"] == f"flip.test:{meant.port}"


def test_a_name_that_flips_between_attempts_is_refused_at_the_second(app, named, connections):
    named.table["flip.test"] = [[PUBLIC], ["127.0.0.1"]]
    site = Site(app)
    assert site.deliver("https://flip.test/").status == "queued"
    job = site.deliver("https://flip.test/")
    assert (job.status, job.error["code"], connections) == ("failed", "WEBHOOK_REFUSED", [PUBLIC])


@pytest.mark.parametrize("code", [300, 301, 302, 303, 304, 305, 307, 308])
def test_a_redirect_is_not_followed_and_says_so(app, traps, code):
    location = f"http://127.0.0.2:{traps[0].port}/inside"
    before = traps[1].connections
    with receiving(f"HTTP/1.1 {code} X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()) as receiver:
        app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[receiver.port, traps[0].port])
        job = Site(app).deliver(f"http://127.0.0.1:{receiver.port}/")
    assert (job.status, traps[1].connections) == ("failed", before)
    assert "redirects are not followed" in job.error["message"]


def test_proxies_of_the_environment_are_not_asked(app, monkeypatch, named, connections):
    with receiving() as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        named.table["trap.test"] = [[PUBLIC]]
        Site(app).deliver("https://trap.test/")
        assert (proxy.connections, connections) == (0, [PUBLIC])


def test_an_address_inside_another_is_allowed_only_together_with_it(app, named, connections):
    app.webhooks.allow(private=["64:ff9b::/96", "::ffff:0:0/96"])
    site = Site(app)
    assert site.deliver("https://[64:ff9b::7f00:1]/").error["code"] == "WEBHOOK_REFUSED"
    assert site.deliver("https://[::ffff:10.0.0.1]/").error["code"] == "WEBHOOK_REFUSED"
    assert connections == []
    assert site.deliver(f"https://[64:ff9b::{PUBLIC}]/").error["code"] == "WEBHOOK_UNREACHABLE"
    assert len(connections) == 1


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/", "http://example.com/", "https://user@example.com/", "https://[::1]/"]
)
def test_an_endpoint_that_could_never_be_reached_is_refused_when_it_is_added(app, secret, url):
    with pytest.raises(BadInput) as refused:
        app.webhooks.add("inside", url, secrets=[secret])
    assert refused.value.code == "WEBHOOK_REFUSED"

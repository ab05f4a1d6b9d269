"""Signatures that every receiver can check, and a check that lets nothing else in."""

from __future__ import annotations

import ast
import inspect
from base64 import b64encode
from datetime import UTC, datetime
from time import time

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from holdfast import BadInput
from holdfast.webhooks import BadSignature, new_secret, signing, verify, verify_sha256
from holdfast.webhooks.signing import sign, sign_sha256
from tests.webhooks.receiver import verify_signature

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105  # of the vector that Standard Webhooks publishes
ID, STAMP, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def headers(signature: str = SIGNATURE, **changed: str) -> dict[str, str]:
    return {"Webhook-Id": ID, "Webhook-Timestamp": str(STAMP), "Webhook-Signature": signature} | changed


def test_the_published_vector_is_signed_so():
    assert sign([SECRET], id=ID, timestamp=STAMP, body=BODY) == SIGNATURE


def test_the_published_vector_is_accepted_with_and_without_the_prefix():
    for secret in (SECRET, SECRET.removeprefix("whsec_")):
        found = verify(BODY, headers(), secrets=secret, now=STAMP)
        assert found == (ID, STAMP, STAMP + 300)


@settings(max_examples=50)
@drawn(st.binary(min_size=24, max_size=64), st.text(), st.from_regex(r"[A-Za-z0-9_-]{1,100}", fullmatch=True))
def test_the_library_of_receivers_agrees_with_us(key, text, id):
    secret = "whsec_" + b64encode(key).decode()
    body = text.encode()
    now = int(time())
    ours = sign([secret], id=id, timestamp=now, body=body)
    theirs = Webhook(secret)
    assert theirs.sign(id, datetime.fromtimestamp(now, UTC), text) == ours
    given = {"webhook-id": id, "webhook-timestamp": str(now), "webhook-signature": ours}
    theirs.verify(body, given, json_parse=False)
    assert verify(body, given, secrets=secret).id == id


def test_while_a_secret_is_changed_both_sign_and_each_is_enough():
    old, new, other = new_secret(), new_secret(), new_secret()
    both = sign([new, old], id=ID, timestamp=STAMP, body=BODY)
    assert both.split(" ") == [sign([one], id=ID, timestamp=STAMP, body=BODY) for one in (new, old)]
    for secrets in (old, new, [other, old], [new, other]):
        assert verify(BODY, headers(both), secrets=secrets, now=STAMP).id == ID
    with pytest.raises(BadSignature):
        verify(BODY, headers(both), secrets=other, now=STAMP)


@pytest.mark.parametrize("bit", range(8))
def test_no_bit_of_body_id_time_or_signature_can_be_changed(bit):
    def flipped(data: bytes):
        for at in range(len(data)):
            yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]

    def refused(body: bytes, given: dict[str, str]) -> bool:
        try:
            verify(body, given, secrets=SECRET, now=STAMP)
        except BadSignature:
            return True
        return False

    assert all(refused(body, headers()) for body in flipped(BODY))
    for name, value in headers().items():
        changed = [one.decode("latin-1") for one in flipped(value.encode())]
        let_in = [one for one in changed if not refused(BODY, headers(**{name: one}))]
        assert let_in == []


@pytest.mark.parametrize("off", [-301, -360, 301, 360, 86_400])
def test_a_request_that_is_old_or_from_the_future_is_refused(off):
    with pytest.raises(BadSignature, match="s off"):
        verify(BODY, headers(), secrets=SECRET, now=STAMP + off)


@pytest.mark.parametrize("off", [-300, 0, 300])
def test_clocks_may_differ_by_five_minutes(off):
    assert verify(BODY, headers(), secrets=SECRET, now=STAMP + off).timestamp == STAMP


def test_without_a_clock_of_its_own_the_present_counts():
    now = int(time())
    signature = sign([SECRET], id=ID, timestamp=now, body=BODY)
    assert verify(BODY, headers(signature, **{"Webhook-Timestamp": str(now)}), secrets=SECRET).timestamp == now
    with pytest.raises(BadSignature):
        verify(BODY, headers(), secrets=SECRET)


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_a_request_without_one_of_the_headers_is_refused(name):
    with pytest.raises(BadSignature, match=name.lower()):
        verify(BODY, {key: value for key, value in headers().items() if key != name}, secrets=SECRET, now=STAMP)


@pytest.mark.parametrize("stamp", ["", "hello", "-1", "1614265330.0", "1e9", " 1614265330", "٣", "9" * 5000])
def test_a_time_stamp_is_plain_digits(stamp):
    with pytest.raises(BadSignature, match="number of seconds"):
        verify(BODY, headers(**{"Webhook-Timestamp": stamp}), secrets=SECRET, now=STAMP)


@pytest.mark.parametrize(
    "signature", ["", "v1", "v1,", SIGNATURE.replace("v1", "v2"), SIGNATURE.replace("v1,", ""), "v1,é", "v1,\udcff"]
)
def test_other_signatures_do_not_fit(signature):
    with pytest.raises(BadSignature, match="no signature fits"):
        verify(BODY, headers(signature), secrets=SECRET, now=STAMP)


def test_the_right_one_among_others_fits_but_a_flood_is_not_read():
    wrong = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
    assert verify(BODY, headers(f"{wrong} v2,x {SIGNATURE} {wrong}"), secrets=SECRET, now=STAMP).id == ID
    with pytest.raises(BadSignature):
        verify(BODY, headers(" ".join([wrong] * 1000 + [SIGNATURE])), secrets=SECRET, now=STAMP)


@pytest.mark.parametrize("secrets", ["", [], [""], [SECRET, ""]])
def test_an_empty_secret_lets_nobody_in(secrets):
    for check in (lambda: verify(BODY, headers(), secrets=secrets), lambda: verify_sha256(BODY, "x", secrets=secrets)):
        with pytest.raises(BadInput) as refused:
            check()
        assert refused.value.code == "WEBHOOK_SECRET"


@pytest.mark.parametrize(
    "secret", ["short", "whsec_" + "A" * 4, "whsec_" + "A" * 28, "whsec_" + "A" * 100, "é" * 40, "hunter2-hunter2"]
)
def test_a_secret_that_is_none_is_refused_and_not_repeated(secret):
    with pytest.raises(BadInput) as refused:
        sign([secret], id=ID, timestamp=STAMP, body=BODY)
    assert refused.value.code == "WEBHOOK_SECRET"
    assert secret not in str(refused.value)


def test_the_other_style_satisfies_the_receivers_own_check():
    for secret in (SECRET, "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"):
        assert verify_signature(secret, BODY, sign_sha256(secret, BODY))


def test_the_other_style_is_checked_too():
    signature = sign_sha256(SECRET, BODY)
    verify_sha256(BODY, signature, secrets=[new_secret(), SECRET])
    for body, given in ((BODY + b" ", signature), (BODY, signature[:-1] + "x"), (BODY, None), (BODY, signature[7:])):
        with pytest.raises(BadSignature):
            verify_sha256(body, given, secrets=SECRET)


def test_secrets_are_long_and_never_the_same():
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(len(signing.key_of(secret)) == 32 for secret in made)
    Webhook(made.pop())


def test_signatures_are_compared_in_constant_time_alone():
    tree = ast.parse(inspect.getsource(signing))
    calls = [node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "attr")]
    assert "compare_digest" in calls
    compared = [
        ast.unparse(node)
        for name in ("verify", "verify_sha256", "_any_equal")
        for node in ast.walk(ast.parse(inspect.getsource(getattr(signing, name))))
        if isinstance(node, ast.Compare)
        and any(isinstance(operator, ast.Eq | ast.NotEq | ast.In) for operator in node.ops)
    ]
    assert compared == ["version == 'v1'"]


def test_the_library_of_receivers_refuses_what_was_changed():
    now = int(time())
    given = {"webhook-id": ID, "webhook-timestamp": str(now)}
    given["webhook-signature"] = sign([SECRET], id=ID, timestamp=now, body=BODY)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(BODY + b" ", given)

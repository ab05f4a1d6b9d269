from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.envelope import CONTEXT_FIELDS, Envelope, check_context
from holdfast.model.errors import BadInput, PayloadError

ENVELOPE = Envelope(
    job_id="0" * 26,
    type="mail",
    version=1,
    created_at="2025-01-16T12:00:00.000Z",
    payload={"to": "a"},
    tenant="t",
    context={"user_id": "u", "user_role": "admin", "trace_id": "x", "correlation_id": "c"},
)
WIRE = {
    "header": {
        "job_id": "0" * 26,
        "type": "mail",
        "version": 1,
        "correlation_id": "c",
        "created_at": "2025-01-16T12:00:00.000Z",
    },
    "context": {"user_id": "u", "user_role": "admin", "trace_id": "x", "tenant": "t"},
    "payload": {"to": "a"},
}
NAMES = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


def test_the_wire_form_is_header_context_and_payload():
    assert json.loads(ENVELOPE.to_json()) == WIRE


def test_an_envelope_comes_back_from_its_wire_form():
    assert Envelope.from_json(ENVELOPE.to_json()) == ENVELOPE
    assert Envelope.from_json(ENVELOPE.to_json().encode()) == ENVELOPE


@given(st.fixed_dictionaries(dict.fromkeys(("user_id", "user_role", "trace_id", "correlation_id"), NAMES)))
def test_the_context_comes_back_whole(context):
    envelope = Envelope(job_id="j", type="t", version=2, created_at="x", payload={}, context=context)
    assert Envelope.from_json(envelope.to_json()) == envelope


def test_a_system_job_has_no_user():
    envelope = Envelope(job_id="j", type="t", version=1, created_at="x", payload={})
    wire = json.loads(envelope.to_json())
    assert wire["context"] == {"user_id": None, "user_role": None, "trace_id": None, "tenant": ""}
    assert Envelope.from_json(json.dumps(wire)).tenant == ""


def without(part, field=None):
    wire = json.loads(json.dumps(WIRE))
    if field is None:
        del wire[part]
    else:
        del wire[part][field]
    return wire


@pytest.mark.parametrize(
    "wire",
    [
        [], {}, None, 1, without("header"), without("context"), without("payload"), without("header", "job_id"),
        without("header", "type"), without("header", "version"), without("header", "created_at"),
        WIRE | {"payload": [1]}, WIRE | {"context": []}, WIRE | {"header": WIRE["header"] | {"version": "1"}},
    ],
)  # fmt: skip
def test_anything_else_is_refused(wire):
    with pytest.raises(BadInput) as caught:
        Envelope.from_json(json.dumps(wire))
    assert caught.value.code == "PAYLOAD_INVALID"


def test_a_tenant_that_is_no_text_is_refused():
    with pytest.raises(BadInput):
        Envelope.from_json(json.dumps(WIRE | {"context": WIRE["context"] | {"tenant": 5}}))


def test_text_that_is_no_json_is_refused():
    with pytest.raises(PayloadError):
        Envelope.from_json("{")


def test_a_context_is_stored_as_its_json():
    context = dict.fromkeys(CONTEXT_FIELDS, "x") | {"user_id": None}
    assert json.loads(check_context(context)) == context
    assert check_context({}) == "{}"


def test_a_context_nobody_knows_is_refused_with_those_there_are():
    with pytest.raises(BadInput, match="unknown context mood; context takes: user_id"):
        check_context({"mood": "good"})


def test_a_context_has_a_size():
    with pytest.raises(PayloadError) as caught:
        check_context({"user_id": "x" * 9_000})
    assert caught.value.code == "PAYLOAD_TOO_LARGE"


@pytest.mark.parametrize("value", [5, ["x"], {"a": "b"}, True])
def test_a_context_holds_text_or_nothing(value):
    with pytest.raises(BadInput):
        check_context({"user_id": value})


@pytest.mark.parametrize("context", [None, [], "x", 5])
def test_a_context_is_an_object(context):
    with pytest.raises(BadInput, match="context is an object"):
        check_context(context)

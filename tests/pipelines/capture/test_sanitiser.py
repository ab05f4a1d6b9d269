"""Promises of the sanitiser: no secret stays, a second call changes nothing, and time grows with the text alone."""

from __future__ import annotations

import os
import random
import statistics
from time import perf_counter, thread_time
from unittest.mock import ANY

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast_pipelines.capture import named, patterns, personal
from holdfast_pipelines.capture.events import Clerk
from holdfast_pipelines.capture.sanitiser import LIMIT, sanitise
from tests.pipelines.capture.samples import CARRIERS, HOME, MAKERS, UNSEEN, USERS, jwt, planted

RULES = (
    patterns.URL_CREDENTIALS, *patterns.AUTH, patterns.JWT, *patterns.PROVIDERS, *patterns.WRAPPED, *patterns.COMMANDS, patterns.URL_TOKEN, *patterns.PATHS,
    personal.MAIL, personal.IBAN, personal.CARD, personal.SSN, *personal.PHONES, *personal.IP,
)  # fmt: skip
# Half a megabyte and a whole one with HOLDFAST_FULL=1; a fraction of it in every run.
SIZE = 2**20 if os.environ.get("HOLDFAST_FULL") else 2**15
# What sends a careless pattern back to the beginning again and again.
REPEATED = (
    "a", "1", " ", "@", "a@", "a.", "@a.", "-", "://", "a://", "a://b@", "http://", "https://a?token=", "eyJ", "eyJa.", "eyJaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA", "-----BEGIN ", "sk-", "sk-ant-", "sk-proj-",
    "ghp_", "github_pat_", "glpat-", "xoxb-", "xoxb-1", "AKIA", "AIza", "ya29.", "hvs.", "SG.", "npm_", "AccountKey=", "Q~", "JQQJ99",
    "password", "password=", 'password="', "password='a", "token ", "secret: ", "api key aA1bB2cC3dD4eE5fF6gG7", "pass=", 'token="\\',
    "--password ", "--password a ", "password '", "password ' ", "<password>", "<password>a", 'password: ["a', 'passwords: ["a", ', "password: |\n ",
    "password: str ", "password: a[", 'type="password" ', '<type="password"', "name: password ", "name: password\nvalue ", "machine login a password ",
    "curl ", "curl -u a:", "curl -u ", "mysql ", "mysql -p", "sshpass -p ", "identified by ", 'password\\\\"', "password: \\\\", '"--token", ',
    "ghp_a\\\n", "ghp_1\n", 'ghp_a" + "', "ghp_\n1", "sk-a\n1", "\n1", "%5F", "a%5F", "LS0tLS1CRUdJTi", "LS0tLS1CRUdJTi" + "A" * 40 + "\n", "Z2hwX",
    "c2stYW50L ", "Private-Lines: 1\n", "Private-Lines: 1\nAA\n", "-----END PRIVATE KEY-----", "A" * 20 + "\n-----END PRIVATE KEY-----", "QUJD" * 9 + "\\n",
    "bearer ", "basic a", "authorization: ", "authorization: bearer ", HOME, HOME + "a", HOME + "a ", HOME + "A B", HOME + "a\\ ", " A", "\\\\a", "\\Users\\", "c:\\users\\A ", "c:\\users\\", "c:\\users\\a b", "projects/-home-a",
    "1.", "1.1.1.", "1:", "::", "f:", "+1", "+1 2", "(555) ", "555-", "0 00", "phone ", "phone: ", "4111 ", "4111-", "123-45-", "AT61 ",
    "\x1b", "\x1b[", "\x1b[0m", "\x1b[0", "\x1b]", "\x1b]a", "\x1bP", "\x1b[0mghp_", "\u200b", "\u200b\u200d", "g\u200b", "\\", "\\u001b[",
    "\\u200b", "\\\\u200b", "\\u0", "AA00", "\\n", "\\u0040", "\\/", "é", "İ", "[REDACTED_", "%40", "a%40", '"', '\\"token\\": \\"',
)  # fmt: skip


@given(st.text(max_size=400))
@settings(max_examples=300, deadline=None)
def test_a_second_call_changes_nothing(text):
    once, _ = sanitise(text)
    assert sanitise(once) == (once, [])


PIECES = [
    *REPEATED,
    "x",
    "\n",
    ",",
    "bob@example.com",
    "10.1.2.3",
    "4111 1111 1111 1111",
    "hunter2x9",
    "=",
    ":",
    "]",
    "[",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
@settings(max_examples=500, deadline=None)
def test_a_second_call_changes_nothing_of_what_is_made_of_pieces_of_secrets(pieces):
    once, _ = sanitise("".join(pieces))
    assert sanitise(once) == (once, [])


@given(
    st.sampled_from([name for name in sorted(MAKERS) if name not in {"ssn", "phone", "ip", "credit_card", "iban"}]),
    st.integers(0, 2**32),
    st.text(max_size=60),
    st.text(max_size=60),
)
@settings(max_examples=400, deadline=None)
def test_no_planted_secret_stays_whatever_is_around_it(category, seed, before, after):
    secret = MAKERS[category](random.Random(seed))
    assert secret not in sanitise(f"{before} {secret} {after}")[0]


def test_a_second_call_changes_nothing_of_the_samples():
    for sample in planted(random.Random(), 5):
        once, _ = sanitise(sample.text)
        assert sanitise(once) == (once, [])


def test_a_finding_carries_the_digest_that_was_asked_for_and_never_the_text():
    _, (finding,) = sanitise("mail to bob@example.com", lambda found: f"<{len(found)}>")
    assert (finding.rule, finding.category, finding.digest) == ("email", "EMAIL", "<15>")
    assert "bob" not in repr(finding)


def test_a_text_is_redacted_first_and_then_cut():
    secret = MAKERS["anthropic"](random.Random(1))
    clean, _ = sanitise("x " * (LIMIT // 2 - 10) + secret)
    assert len(clean) == LIMIT
    assert secret[:12] not in clean


def test_a_key_whose_end_was_cut_off_is_taken_out_too():
    clean, _ = sanitise("-----BEGIN PRIVATE KEY-----\n" + "QUJD" * 16 + "\n" + "REVG" * 9)
    assert clean == "[REDACTED_PRIVATE_KEY]"


def test_text_after_a_key_stays():
    clean, _ = sanitise("a -----BEGIN EC PRIVATE KEY-----\nQUJD\n-----END EC PRIVATE KEY----- b")
    assert clean == "a [REDACTED_PRIVATE_KEY] b"


def test_a_line_after_a_key_in_pieces_stays():
    key = MAKERS["anthropic"](random.Random(4))
    assert sanitise(f"{key[:60]}\n{key[60:-2]}9z\nDone\n2 files")[0] == "[REDACTED_ANTHROPIC_KEY]\nDone\n2 files"
    assert sanitise(f"{key}\nDone")[0] == "[REDACTED_ANTHROPIC_KEY]\nDone"


@pytest.mark.parametrize("word", ["İstanbul ", "ǅ "])
def test_letters_that_change_their_length_in_lower_case_move_nothing(word):
    assert sanitise(f'{word * 3}password = "hunter2x"')[0] == f'{word * 3}password = "[REDACTED_SECRET]"'


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_what_nobody_sees_is_not_kept(unseen):
    assert sanitise(f"one{unseen}two password={unseen}hunter2x9{unseen} x") == (
        "onetwo password=[REDACTED_SECRET] x",
        ANY,
    )


def test_a_key_right_behind_a_colour_begins_there():
    key = MAKERS["github"](random.Random(2))
    assert sanitise(f"KEY\x1b[31m{key}\x1b[0m")[0] == "KEY [REDACTED_GITHUB_KEY]"
    for category in ("anthropic", "aws", "stripe", "slack", "gitlab", "twilio", "jwt"):
        key = MAKERS[category](random.Random(3))
        assert key[-12:] not in sanitise(f"KEY\x1b[31m{key}\x1b[0m")[0]
    assert sanitise(f"\x1b[2;5Hkey\x1b[9G{key}")[0] == " key [REDACTED_JWT]"
    assert sanitise("\x1b]8;;https://example.com\x1b\\a link\x1b]8;;\x07 stays")[0] == "a link stays"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"cp {HOME}bob src/x", "cp [REDACTED_PATH] src/x"),
        (f"in {HOME}bob and src/x", "in [REDACTED_PATH] and src/x"),
        (f'"{USERS}Bob Zorblax", then', '"[REDACTED_PATH]", then'),
        (f"cd {USERS}Bob Zorblax\nls", "cd [REDACTED_PATH]\nls"),
        ("cd C:\\Users\\Bob Zorblax\r\ndir", "cd [REDACTED_PATH]\r\ndir"),
        ("C:\\Users\\bob is a folder", "[REDACTED_PATH] is a folder"),
    ],
)
def test_a_folder_of_a_user_goes_with_all_of_the_name_and_nothing_behind_it(text, clean):
    assert sanitise(text)[0] == clean


@pytest.mark.parametrize(
    "folder", [f"{USERS}Bob Zorblax", f"{USERS}bob zorblax", f"{HOME}van der zorblax/p q", "C:\\Users\\bob zorblax"]
)
def test_a_session_s_folder_is_one_path_whatever_spaces_are_in_it(folder):
    record = Clerk(b"k").record({"event": "SessionEnd", "session_id": "s", "cwd": folder})
    assert record["project"] == "[REDACTED_PATH]"


def test_a_session_s_folder_that_is_nobody_s_stays():
    record = Clerk(b"k").record({"event": "SessionEnd", "session_id": "s", "cwd": "/srv/My Project"})
    assert record["project"] == "/srv/My Project"


def realistic(size: int) -> str:
    rng = random.Random(3)
    words = "the worker reads a line from src/app/main.py:42 and calls handle(job) -> None; if status == 'queued': return 3.14\n"
    secrets = [CARRIERS[0].format(MAKERS[name](rng)) for name in ("email", "github", "path", "ip", "database_url")] + [
        jwt(rng)
    ]
    body = words * (size // len(words) + 1)
    step = size // len(secrets)
    return "\n".join(body[n * step : (n + 1) * step] + "\n" + secret for n, secret in enumerate(secrets))[: size + 400]


def test_ten_kilobytes_take_less_than_five_milliseconds():
    text = realistic(10_240)
    taken = []
    for _ in range(60):
        start = thread_time()  # of this thread alone: the machine may be shared
        sanitise(text)
        taken.append((thread_time() - start) * 1000)
    taken.sort()
    print(f"\n10 KB: median {statistics.median(taken):.2f} ms, p95 {taken[57]:.2f} ms")  # noqa: T201  # the figure is what is shown
    assert statistics.median(taken) < 5


def seconds(text: str, run) -> float:
    best = float("inf")
    for _ in range(3):
        start = perf_counter()
        run(text)
        best = min(best, perf_counter() - start)
        if best < 0.02:
            break
    return best


@pytest.mark.slow
@pytest.mark.parametrize("piece", REPEATED, ids=[f"{piece[:20]!a}" for piece in REPEATED])
def test_time_grows_with_the_text_alone(piece):
    half, whole = ((piece * (size // len(piece) + 1))[:size] for size in (SIZE // 2, SIZE))
    short, long = seconds(half, sanitise), seconds(whole, sanitise)
    assert long < 6, "slower than anyone waits"
    assert long < 3.2 * short + 0.05, f"{short:.3f} s for the half, {long:.3f} s for the whole"


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=[f"{n}-{rule.name}" for n, rule in enumerate(RULES)])
def test_every_pattern_is_linear_on_its_own_beginnings(rule):
    run = lambda text: sum(1 for _ in rule.compiled().finditer(text))  # noqa: E731
    for needle in [*rule.needles, "1", "a1", "1.", "1:", "AA00", "1 ", "a "]:
        half, whole = ((needle * (size // len(needle) + 1))[:size] for size in (SIZE // 2, SIZE))
        short, long = seconds(half, run), seconds(whole, run)
        assert long < 3.2 * short + 0.05, f"{needle!r}: {short:.3f} s, then {long:.3f} s"


def test_what_is_near_a_word_is_judged_by_its_letters():
    assert named.entropy("aaaa") == 0
    assert named.looks_random("9fK2mQ8xZp4Lr7Vt1Yw3Nb6C")
    assert not named.looks_random("a-file-name-of-2024-and-more")

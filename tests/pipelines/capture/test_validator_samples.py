"""What the validator by rules finds of what it is meant to find, and how often it is wrong; and that nothing of it stays."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from holdfast.testing import drain
from holdfast_pipelines.capture import record
from holdfast_pipelines.capture.events import Clerk
from holdfast_pipelines.capture.jobs import application
from holdfast_pipelines.providers.rules import RulesValidator

FIRST = ("Ada", "Grace", "Marie-Luise", "Søren", "Wilhelmina", "Jean", "O'Brian", "Tim")
LAST = ("Lovelace", "Featherstone", "Müller", "Van-Dyke", "McGregor", "Ångström", "Berners-Lee", "Hopper")
FIRM = ("Northwind", "Acme Rocket", "Blue Yonder Freight", "Contoso")
STREET = ("Maple", "Long Acre", "Saint James", "Old Mill")


def planted(rng: random.Random, each: int):
    """Category, text, and what must be gone."""
    for _ in range(each):
        name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        yield (
            "PERSON_NAME",
            rng.choice(
                ["My name is {}, hello", "Signed-off-by: {} <x>", "I am {} and I test", "ask Dr. {} then"]
            ).format(name),
            name,
        )
        firm = f"{rng.choice(FIRM)} {rng.choice(['Inc', 'GmbH', 'Ltd', 'LLC'])}"
        yield "ORGANIZATION", f"the contract with {firm} ends", firm
        street = f"{rng.randrange(1, 999)} {rng.choice(STREET)} {rng.choice(['Road', 'Street', 'Avenue', 'Lane'])}"
        yield "ADDRESS", f"send it to {street} please", street
        number = f"{rng.choice(['AB', 'EMP', ''])}{rng.randrange(10**5, 10**8)}"
        yield (
            "CUSTOM_IDENTIFIER",
            rng.choice(["customer id: {}", "employee number {}", "passport no. {}"]).format(number),
            number,
        )
        word = f"{rng.choice(LAST)[:3]}{rng.randrange(1000, 9999)}x"
        yield (
            "CONTEXTUAL_SECRET",
            rng.choice(["the password is {} for now", "my pin is {}", "the password for staging is '{}'"]).format(word),
            word,
        )


HARMLESS = (
    "I am sure that Python handles this", "This is Fine", "the password is wrong", "I work for a living",
    "Dr. is a title; Mr. is another", "walk 500 meters down the road", "the customer id column is an integer",
    "Use a Context Manager instead", "The Quick Brown Fox Jumps", "Signed-off-by: is a trailer", "Main Street style guide",
    "the pin is connected to ground", "order number of the list", "see Chapter 12 Long Story", "ValueError: No Such File",
    "I am using React Native here", "class MyClass(Base): pass", "the GmbH is a legal form",
)  # fmt: skip


def test_what_only_words_give_away_is_found():
    rng, validator = random.Random(), RulesValidator()
    count, missed, right, wrong = Counter(), Counter(), Counter(), Counter()
    for category, text, secret in planted(rng, 60):
        found = validator.detect(text)
        count[category] += 1
        missed[category] += not any(secret in text[one.start : one.end] for one in found)
        for one in found:
            (right if one.category == category else wrong)[one.category] += 1
    for text in HARMLESS:
        for one in validator.detect(text):
            wrong[one.category] += 1
    lines = [
        f"{name:18} {count[name]:4} recall {1 - missed[name] / count[name]:.3f} "
        f"precision {right[name] / max(1, right[name] + wrong[name]):.3f}"
        for name in sorted(count)
    ]
    print("", *lines, sep="\n")  # noqa: T201  # the figures are what is shown
    assert {name for name in count if missed[name] > 0.05 * count[name]} == set(), lines
    assert {name for name in wrong if wrong[name] > 0.05 * (right[name] + wrong[name])} == set(), lines


@pytest.mark.slow
def test_nothing_of_it_stays_in_any_file(tmp_path):
    app = application({"HOLDFAST_CAPTURE_FOLDER": str(tmp_path)})
    clerk, rng = Clerk(b"k" * 32), random.Random(9)
    samples = [sample for sample in planted(rng, 20) if RulesValidator().detect(sample[1])]
    for number, (_, text, _) in enumerate(samples):
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": f"s{number % 3}",
            "prompt": f"{text} {'y' * (9_000 * (number % 7 == 0))}",
        }
        record.store(app, clerk.record(event))
    files = [path for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert any(samples[0][2].encode() in path.read_bytes() for path in files)
    drain(app)
    content = b"".join(path.read_bytes() for path in Path(tmp_path).rglob("*") if path.is_file())
    app.close()
    assert [secret for _, _, secret in samples if secret.encode() in content] == []

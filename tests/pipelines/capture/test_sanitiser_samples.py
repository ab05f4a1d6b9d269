"""How much of what is private is found, and how much of what is found was private: by category, on made samples."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from holdfast_pipelines.capture.sanitiser import sanitise
from tests.pipelines.capture.lookalikes import lookalikes
from tests.pipelines.capture.samples import KEYS, NAMED, password, planted

EACH = 30


@pytest.fixture(scope="module")
def figures():
    """By category: planted, missed, found rightly, found wrongly."""
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    count, missed, right, wrong = Counter(), Counter(), Counter(), Counter()
    examples = []
    for sample in planted(rng, EACH):
        clean, findings = sanitise(sample.text)
        count[sample.category] += 1
        if sample.secret in clean or not findings:
            missed[sample.category] += 1
            examples.append(f"missed {sample.category}: {clean}")
        right[sample.category] += sum(1 for finding in findings if fits(finding, sample.category))
        for finding in findings:
            if not fits(finding, sample.category):
                wrong[finding.category.lower().removesuffix("_key")] += 1
                examples.append(f"{finding.rule} in {sample.category}: {sample.text}")
    for text in lookalikes(rng, EACH):
        count["look-alike"] += 1
        for finding in sanitise(text)[1]:
            wrong[finding.category.lower().removesuffix("_key")] += 1
            examples.append(f"{finding.rule} took: {text}")
    print(table(seed, count, missed, right, wrong), *examples[:40], sep="\n")  # noqa: T201  # the figures are what is shown
    return count, missed, right, wrong, examples


def fits(finding, category) -> bool:
    """A secret said by name is one by any rule that knows it better; so is a header's."""
    return finding.category.lower() in {category, f"{category}_key"} or (
        category in {"secret", "auth", "url"} and finding.category in {"SECRET", "AUTH", "AZURE_KEY"}
    )


def table(seed, count, missed, right, wrong) -> str:
    lines = [f"\nseed {seed}; {sum(count.values())} samples, {count['look-alike']} of them look-alikes"]
    lines.append(f"{'category':14} {'samples':>7} {'recall':>7} {'precision':>9}")
    for category in sorted((set(count) | set(wrong)) - {"look-alike"}):
        recall = 1 - missed[category] / max(1, count[category])
        precision = right[category] / max(1, right[category] + wrong[category])
        lines.append(f"{category:14} {count[category]:7} {recall:7.3f} {precision:9.3f}")
    return "\n".join(lines)


def test_there_are_enough_samples(figures):
    count = figures[0]
    assert sum(count.values()) >= 1_000
    assert count["look-alike"] >= 300


def test_what_is_private_is_found(figures):
    count, missed, *_ = figures
    poor = {
        category: f"{missed[category]} of {count[category]}"
        for category in count
        if missed[category] > count[category] * (0.02 if category in KEYS else 0.05)
    }
    assert poor == {}


def test_what_is_found_was_private(figures):
    _, _, right, wrong, examples = figures
    poor = {category: n for category, n in wrong.items() if n > 0.02 * (right[category] + n)}
    assert poor == {}, examples


@pytest.mark.parametrize("form", NAMED)
def test_a_secret_is_found_in_every_form_that_gives_it_away(form):
    secrets = [password(random.Random(seed)) for seed in range(5)]
    assert [secret for secret in secrets if secret in sanitise(form.format(secret))[0]] == []


def test_what_only_looks_private_comes_through_as_it_is():
    assert [text for text in lookalikes(random.Random(), 5) if sanitise(text)[0] != text] == []


def test_each_placeholder_names_its_category():
    rng = random.Random(7)
    for sample in planted(rng, 1):
        clean, findings = sanitise(sample.text)
        assert all(f"[REDACTED_{finding.category}]" in clean for finding in findings)

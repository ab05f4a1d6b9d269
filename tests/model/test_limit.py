"""A limit's own rules: which keys fall under it, and what it says."""

from __future__ import annotations

from holdfast.model.limit import Limit, fair, keys_for, limit_of, readable, tenant_of, under


def test_a_key_falls_under_its_own_limit_else_under_that_of_its_family():
    limits = {name: limit_of(name, concurrency=1) for name in ("domain", "domain:a")}
    assert under("domain:a", limits) is limits["domain:a"]
    assert under("domain:b", limits) is limits["domain"]
    assert under("domain", limits) is limits["domain"]
    assert under("other", limits) is None


def test_the_share_of_a_tenant_falls_under_the_rule_of_its_queue_whatever_their_names():
    rules = (fair("a"), fair("a:b"))
    ((one,), _), ((two,), _) = keys_for("a", "b:c", rules), keys_for("a:b", "c", rules)
    assert one != two
    named = {rule.name: rule for rule in rules}
    assert (under(one, named), under(two, named)) == rules
    assert (tenant_of(one), readable(two)) == ("b:c", "fair:a:b of c")


def test_two_limits_that_say_the_same_have_the_same_text():
    limit = fair("a", {"x": 2})
    assert Limit(limit.name).as_said(limit.said()) == limit
    assert limit_of("a", rate=1).said() != limit_of("a", rate=2).said()
    assert limit_of("a", rate=10, burst=3, concurrency=2).as_json()["burst"] == 3

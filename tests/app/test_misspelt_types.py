"""A type that is not registered here may be another service's, or a slip: one that looks like a slip is warned of."""

from __future__ import annotations

import warnings

import pytest

MEANT = r"no handler of the type 'thumbnial' is registered here: was 'thumbnail' meant\?"


def test_a_misspelt_type_is_warned_of_and_stored(app, thumbnail):
    with pytest.warns(UserWarning, match=MEANT) as caught:
        handle = app.enqueue("thumbnial", {"path": "a"})
    assert app.get(handle.id).type == "thumbnial"
    assert caught[0].filename == __file__


async def test_coroutines_are_warned_too(app, thumbnail):
    with pytest.warns(UserWarning, match=MEANT) as caught:
        await app.aenqueue("thumbnial", {"path": "a"})
    assert caught[0].filename == __file__


def test_it_is_said_once_for_each_type(app, thumbnail):
    with warnings.catch_warnings(record=True, action="always") as caught:
        for kind in ("thumbnial", "thumbnial", "thumbnails", "thumbnial"):
            app.enqueue(kind, {"path": "a"})
    assert [str(one.message).split("'")[1] for one in caught] == ["thumbnial", "thumbnails"]


@pytest.mark.parametrize("kind", ["thumbnail", "invoice", "mail", "thumb"])
def test_a_known_type_and_one_that_resembles_none_are_fine(app, thumbnail, kind):
    assert app.enqueue(kind, {"path": "a"}).created


def test_where_no_handler_is_registered_no_type_is_a_slip(app):
    assert app.enqueue("thumbnial", {"path": "a"}).created


def test_after_many_types_that_are_not_known_no_more_are_looked_at(app, thumbnail):
    with app.transaction():
        for number in range(1_000):
            app.enqueue(f"of another service, {number}", {})
        app.enqueue("thumbnial", {"path": "a"})

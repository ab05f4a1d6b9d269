"""Statements of the caller's own: anything but the words that would end the transaction behind its back."""

from __future__ import annotations

import pytest

from holdfast.model.errors import BadInput
from tests.store.given import enqueue, get, write


@pytest.mark.parametrize("words", ["commit", "rollback", "  COMMIT;", "begin", "savepoint a", "select 1; rollback"])
def test_a_word_that_ends_the_transaction_is_refused(store, words):
    with pytest.raises(BadInput, match="cannot be sent here"):
        write(store, lambda tx: tx.execute(words))
    assert get(store, enqueue(store)).attempts == 0


def test_any_other_statement_is_run(store):
    assert [tuple(row) for row in write(store, lambda tx: tx.execute("select 1 + 1"))] == [(2,)]

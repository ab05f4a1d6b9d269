"""What is said of a signal that cannot be reached."""

from __future__ import annotations

import pytest

from holdfast.signals.network import reason
from holdfast.signals.postgres import PostgresNetwork


@pytest.mark.parametrize("password", ["%zzhunter2", "not hunter2"])
def test_an_address_that_the_driver_cannot_read_is_told_without_the_password(password):
    with pytest.raises(Exception, match="cannot read the whole address") as caught:
        PostgresNetwork(f"postgresql://ann:{password}@127.0.0.1:1/jobs").connect(hear=False)
    assert "hunter2" not in reason(caught.value)
    assert caught.value.__cause__ is None

"""Every test gets a running site of its own."""

from __future__ import annotations

import pytest

from tests.http.site import running_site


@pytest.fixture
def site(tmp_path):
    with running_site(tmp_path) as running:
        yield running

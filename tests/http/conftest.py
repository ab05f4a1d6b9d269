"""A test gets a running site of its own, unless it changes nothing."""

from __future__ import annotations

import pytest

from tests.http.site import running_site


@pytest.fixture
def site(tmp_path):
    with running_site(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def quiet_site(tmp_path_factory):
    """One site for all tests of a module that change nothing."""
    with running_site(tmp_path_factory.mktemp("quiet")) as running:
        yield running

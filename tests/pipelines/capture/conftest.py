from __future__ import annotations

import pytest

from tests.pipelines.capture.hooks import Home


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.fixture
def sharer(tmp_path):
    from tests.pipelines.capture.sharing import Sharer  # needs servers that other tests here do without

    made = Sharer(tmp_path)
    yield made
    made.close()

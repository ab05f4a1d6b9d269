from __future__ import annotations

import pytest

from tests.pipelines.capture.hooks import Home


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)

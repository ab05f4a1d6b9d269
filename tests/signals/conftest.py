"""Every test that asks for `kind` runs once on each network."""

from __future__ import annotations

import pytest

from holdfast.signals.relay import RelaySignal
from tests.signals.networks import KINDS, network_of, proven


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def open_signal(request):
    """A signal, closed after the test."""

    def opened(kind, url=None):
        signal = RelaySignal(network_of(kind, url), lambda: "")
        request.addfinalizer(signal.close)
        return signal

    return opened


@pytest.fixture
def listen(request):
    """A proven ear that has nothing more to say of its beginning."""

    def listening(signal):
        ear = signal.listen("ear")
        request.addfinalizer(ear.close)
        assert proven(ear), "the probe did not come back"
        ear.receive()
        return ear

    return listening

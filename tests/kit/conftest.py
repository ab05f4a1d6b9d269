"""These tests use the kit as its users do: through its fixtures."""

from __future__ import annotations

from holdfast.testing import holdfast_app, holdfast_clock

__all__ = ["holdfast_app", "holdfast_clock"]

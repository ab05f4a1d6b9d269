"""These tests use the kit as its users do: through its fixtures."""

from __future__ import annotations

pytest_plugins = ["holdfast.testing"]

"""How long to wait before the next attempt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Twice `base_ms` after the first failure, doubling up to `cap_ms`; plus up to `jitter_ms`, to spread a herd."""

    base_ms: int = 1_000
    cap_ms: int = 60_000
    jitter_ms: int = 1_000

    def delay_ms(self, attempts: int, spread: float) -> int:
        """The wait after `attempts` runs; `spread` in [0, 1) picks the jitter."""
        # 2**attempts of a large count would be an enormous number before the cap cuts it.
        doubled = self.base_ms << min(attempts, 40)
        return min(self.cap_ms, doubled) + int(self.jitter_ms * spread)

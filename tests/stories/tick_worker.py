"""A process that ticks without a rest, on a clock that runs fast and alike for all, until it is killed.

python -m tests.stories.tick_worker URL BEGAN SPEED
"""

from __future__ import annotations

import sys
import time

from holdfast import App
from holdfast.engine import schedules
from holdfast.model.request import NewJob
from holdfast.model.schedule import plan_of

BASE = 1_737_028_800_000  # 2025-01-16T12:00:00.000Z
PLANS = {
    f"every {seconds}": plan_of(NewJob("tick", "{}"), every=seconds, catch_up="all", overlap="allow")
    for seconds in (1, 1.1, 1.25, 1.5, 2, 5)
}


def now(began: float, speed: float) -> int:
    return BASE + int((time.time() - began) * 1000 * speed)


def open_app(url: str, began: float, speed: float) -> App:
    return App(url, clock=lambda: now(began, speed), signal="off")


def main(url: str, began: str, speed: str) -> None:
    app = open_app(url, float(began), float(speed))
    app.desk.write(schedules.declare, PLANS)
    sys.stdout.write("ticking\n")
    sys.stdout.flush()
    while True:
        schedules.tick_all(app.desk)
        time.sleep(0.001)


if __name__ == "__main__":
    main(*sys.argv[1:])

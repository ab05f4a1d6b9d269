"""An application with schedules, for real workers."""

from __future__ import annotations

import holdfast

app = holdfast.App()


@app.job
async def beat() -> None:
    """One tick."""


app.schedule("second", beat, every=1, catch_up="all", overlap="allow")
app.schedule("other", beat, every=2, catch_up="all", overlap="allow")

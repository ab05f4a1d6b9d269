"""What a worker is pointed at: `holdfast worker holdfast_pipelines.capture.work:app`."""

from __future__ import annotations

from holdfast_pipelines.capture.jobs import application

app = application()

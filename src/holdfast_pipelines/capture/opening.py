"""Opens the database for those who may bring it up to date."""

from __future__ import annotations

import os
from typing import Any

import holdfast


def opened(url: str, **settings: Any) -> holdfast.App:
    """An application on the database; FOREIGN_TABLES if somebody else's lies there, which then stays as it is."""
    if os.path.exists(url.partition("?")[0].removeprefix("sqlite:///")):  # noqa: PTH110
        look = holdfast.App(url, migrate=False, patience=1)
        try:
            look.jobs(limit=1)
        except holdfast.StoreError as error:
            if error.code == "FOREIGN_TABLES":
                raise
        finally:
            look.close()
    return holdfast.App(url, **settings)

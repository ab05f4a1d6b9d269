"""`with` for a generator of two steps, as contextlib has it, without what contextlib costs a cold process."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any


class Block:
    """Runs a generator up to its `yield`, and on when the block is left; an error of the block is raised there."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Generator[Any, None, None]) -> None:
        self._steps = steps

    def __enter__(self) -> Any:
        return next(self._steps)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            next(self._steps, None)
            return
        try:
            self._steps.throw(error)
        except RuntimeError as raised:
            if raised is not error and raised.__cause__ is not error:  # a StopIteration comes back as a cause
                raise
        except BaseException as raised:
            if raised is not error:
                raise

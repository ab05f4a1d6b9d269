"""Find the user's application at `module:attribute`, and say in one line why it cannot be had."""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import BadInput, HoldfastError
from holdfast.model.failure import failure_of, scrub

if TYPE_CHECKING:
    from types import ModuleType

    from holdfast.worker.application import Application

_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120


def load_app(spec: str, folder: str | None = None, url: str | None = None, signal: str | None = None) -> Application:
    """The application at `module:attribute` (attribute `app` by default); a function there is called to make it.

    `url` replaces the store that it names; `signal` holds where it names none. Raises BadInput whatever goes wrong.
    """
    if folder is not None and folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        app = _found(spec, folder)
        for name in app.imports:
            import_module(name)
    except HoldfastError:
        raise
    except Exception as error:
        raise not_loaded(error) from error
    if signal and app.signal_by is None:
        app.signal_by, url = signal, url or app.url
    if url:
        app.use(url)
    return app  # type: ignore[no-any-return]


def not_loaded(error: BaseException) -> HoldfastError:
    """One line that a person can act on: what was raised and, in code that is not ours, where."""
    if isinstance(error, HoldfastError):
        return error
    failure = failure_of(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f" ({error.filename}, line {error.lineno})"
    said = f"{failure.kind}: {scrub(failure.message)}{where}"
    return BadInput("APP_NOT_LOADED", f"the application could not be loaded: {' '.join(said.split())}")


def _found(spec: str, folder: str | None) -> Any:
    module_name, _, attribute = spec.partition(":")
    attribute = attribute or "app"
    module = _module(module_name, attribute, folder)
    found: Any = getattr(module, attribute, None)
    if found is None:
        where = getattr(module, "__file__", None) or "of no file"
        raise BadInput("BAD_OPTION", f"module {module_name!r} ({where}) has no {attribute!r}: {_advice(module)}")
    if hasattr(found, "definition"):  # callable, too, but what it does is nobody's wish now
        raise BadInput("BAD_OPTION", f"{attribute} is a job, not an App: name the App; {_advice(module)}")
    if callable(found) and not _is_app(found):
        found = found()
    if not _is_app(found):
        raise BadInput("BAD_OPTION", f"{spec!r} is a {type(found).__name__}, not a holdfast.App: {_advice(module)}")
    return found


def _module(name: str, attribute: str, folder: str | None) -> ModuleType:
    if name.endswith(".py") or "/" in name:
        dotted = name.removesuffix(".py").strip("./").replace("/", ".")
        raise BadInput("BAD_OPTION", f"{name!r} is a file: name its module, as in {dotted}:{attribute}")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            raise _missing(name, folder or os.getcwd()) from None  # noqa: PTH109
        raise


def _missing(name: str, folder: str) -> BadInput:
    top, dot, _ = name.partition(".")
    files = f"{top}/" if dot else f"{top}.py or {top}/"
    return BadInput(
        "BAD_OPTION",
        f"there is no module {name!r} in {folder}: a module is found from the folder in which the command is run, so "
        f"run it where {files} is, or check the name; write module:app",
    )


def _is_app(found: object) -> bool:
    return not isinstance(found, type) and hasattr(found, "registry")


def _advice(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if _is_app(value)]
    return f"write {module.__name__}:{names[0] if names else 'name_of_the_app'}"


def _is_ours(filename: str) -> bool:
    return filename.startswith(("<frozen", _PACKAGE))

"""How a command ends: its exit code, and each error told once.

0 done, 1 what was asked for failed, 2 wrong use, 130 Ctrl-C. With --json an error is an object on standard output.
HOLDFAST_DEBUG=1 lets an error through with its trace.
"""

from __future__ import annotations

import errno
import os
import sys

import click
from click.exceptions import Exit, NoArgsIsHelpError

from holdfast.cli.plain import clean, json_text
from holdfast.model.errors import BadInput, HoldfastError

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _OutputFailed(Exception):
    """Standard output does not take what is written."""


def run(group: click.Group, arguments: list[str]) -> int:
    """Run one command line to its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without the letter still gets the line
    code = 0
    try:
        code = _called(group, arguments)
        _flush()
    except BrokenPipeError:  # the reader has had enough
        _drop_output()
    except _OutputFailed as error:
        _drop_output()
        tell("OUTPUT_FAILED", f"standard output cannot be written: {error}; what was asked for may have been done")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def tell(code: str, message: str, *, as_json: bool = False) -> None:
    """Show one error."""
    if as_json:
        try:
            click.echo(json_text({"error": {"code": code, "message": message}}))
        except OSError as error:
            _check_output(error)
            raise
        return
    click.echo(click.style(f"error {code}:", fg="red", bold=True) + f" {clean(message)}", err=True, color=colour())


def note(message: str) -> None:
    """Something worth knowing that is no error, beside the output."""
    click.echo(clean(message), err=True)


def colour() -> bool | None:
    """False where colours are not wanted; else the terminal decides."""
    return False if os.environ.get("NO_COLOR") else None


def _flush() -> None:
    if sys.stdout is None:  # closed by the caller
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        _check_output(error)
        raise


def _check_output(error: Exception) -> None:
    """Tell a full output from other errors: the store's own are told by their codes, those of a file name it."""
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS and error.filename is None:
        raise _OutputFailed(error.strerror) from error


def _drop_output() -> None:
    """What is still in the buffer must not fail a second time when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _called(group: click.Group, arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        _check_text(arguments)
        _complete(group)
        with group.make_context("holdfast", list(arguments)) as context:
            group.invoke(context)
    except Exit as ending:
        return ending.exit_code
    except NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return WRONG_USE
    except click.ClickException as error:
        _tell_usage(error, as_json=as_json)
        return WRONG_USE
    except BrokenPipeError:
        raise
    except Exception as error:
        _check_output(error)
        if os.environ.get("HOLDFAST_DEBUG") == "1":
            raise
        return _tell_error(error, as_json=as_json)
    return 0


def _check_text(arguments: list[str]) -> None:
    """Bytes that are no UTF-8 arrive as half characters, which no store takes."""
    for place, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise click.UsageError(f"argument {place} is not UTF-8 text: check what your shell put there") from None


def _complete(group: click.Group) -> None:
    """Answer a shell that asks how the line may go on."""
    asked = os.environ.get("_HOLDFAST_COMPLETE")
    if asked:
        from click.shell_completion import shell_complete  # noqa: PLC0415

        raise Exit(shell_complete(group, {}, "holdfast", "_HOLDFAST_COMPLETE", asked))


def _tell_usage(error: click.ClickException, *, as_json: bool) -> None:
    tell("BAD_OPTION", error.format_message(), as_json=as_json)
    context = getattr(error, "ctx", None)
    if context is not None and not as_json:
        click.echo(f"Try '{context.command_path} --help'.", err=True)


def _tell_error(error: Exception, *, as_json: bool) -> int:
    if isinstance(error, HoldfastError):
        tell(error.code, str(error), as_json=as_json)
        return WRONG_USE if isinstance(error, BadInput) else FAILED
    # Its text may quote anything, so only its kind is shown.
    reason = (error.strerror if isinstance(error, OSError) else None) or "this is a fault of Holdfast"
    advice = "HOLDFAST_DEBUG=1 shows where it came from"
    tell("UNEXPECTED", f"{type(error).__name__}: {reason}; {advice}", as_json=as_json)
    return FAILED

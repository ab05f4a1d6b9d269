"""Dying together: a process whose parent is gone must not go on working unseen."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def die_with(parent: int) -> None:
    """Be killed when the parent dies, however it dies. Where the kernel cannot, pipes that close must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def kill_group(pid: int) -> None:
    """Kill a process and all it started. 0 is nobody yet: to the kernel it would mean our own group."""
    for kill in (os.killpg, os.kill) if pid > 0 else ():
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def describe_exit(status: int) -> str:
    """A wait status in words."""
    return describe_code(os.waitstatus_to_exitcode(status))


def describe_code(code: int) -> str:
    """An exit code in words; below zero it is a signal's number."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"

"""Handlers that kill or paralyse their process: eight kinds, each bounded so that only their own process suffers."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

_MOST_FORKS = 40


def abort() -> None:
    os.abort()


def segmentation_fault() -> None:
    ctypes.string_at(0)


def out_of_memory() -> None:
    """Asks for more than its limit, and is killed for it, as the kernel does. Its neighbours get what they need."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (256 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        bytearray(512 << 20)
    except MemoryError:
        os.kill(os.getpid(), 9)


def vanish() -> None:
    os._exit(0)


def stack_overflow() -> None:
    """Recursion in C beyond the stack of a thread."""
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    sort = ctypes.CDLL(None).qsort
    sys.setrecursionlimit(10**9)

    @compare_type
    def compare(left: int, right: int) -> int:
        numbers = (ctypes.c_int * 2)(2, 1)
        sort(numbers, 2, ctypes.sizeof(ctypes.c_int), compare)
        return 0

    compare(0, 0)


def fork_bomb() -> None:
    """Forks as fast as it can, a bounded number of times, and then dies; what it forked stays."""
    for _ in range(_MOST_FORKS):
        if os.fork() == 0:
            time.sleep(3600)
    os.abort()


def endless_call() -> None:
    """One call into C that never gives the interpreter back."""
    ctypes.PyDLL(None).sleep(3600)


def endless_loop() -> None:
    """Computes for ever, and lets the others in only now and then."""
    sys.setswitchinterval(5.0)
    while True:
        sum(range(10_000_000))


KINDS: dict[str, Callable[[], None]] = {
    "abort": abort,
    "segmentation fault": segmentation_fault,
    "out of memory": out_of_memory,
    "vanish": vanish,
    "stack overflow": stack_overflow,
    "fork bomb": fork_bomb,
    "endless call": endless_call,
    "endless loop": endless_loop,
}

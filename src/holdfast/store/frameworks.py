"""What belongs to a library, told without importing it: an object of a library that nobody imported cannot exist."""

from __future__ import annotations

import sys


def is_a(thing: object, module: str, *names: str) -> bool:
    """Whether it is of one of these classes of a module, if that module is there at all."""
    library = sys.modules.get(module)
    return any(isinstance(thing, getattr(library, name, ())) for name in names)


def is_of_django(connection: object) -> bool:
    """Whether it is a connection of Django's, or `django.db.connection`, which only stands for one."""
    return "django" in libraries_of(connection) and hasattr(connection, "vendor")


def libraries_of(thing: object) -> set[str]:
    """The libraries whose classes it is made of."""
    return {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}

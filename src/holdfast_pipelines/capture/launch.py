"""The quickest way into the hook: `python -I -S launch.py`, as `holdfast capture install` writes it.

Without `site` the interpreter starts in two thirds of the time. What `site` would have found is looked for here: the
folder of this package, and the packages of the environment that the interpreter belongs to.
"""

from __future__ import annotations

import _collections_abc
import gc
import sys

gc.disable()  # the process ends before a collection could pay


def _start() -> int:
    here = __file__.rpartition("/")[0].rpartition("/")[0].rpartition("/")[0]
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = f"{sys.executable.rpartition('/')[0].rpartition('/')[0]}/lib/{version}/site-packages"
    sys.path += dict.fromkeys((here, packages))  # behind the standard library, where `site` has them, too
    if not _has_driver():
        import site  # noqa: PLC0415

        site.main()
    from holdfast_pipelines.capture.hook import main  # noqa: PLC0415

    return main()


def _has_driver() -> bool:
    """Whether apsw could be imported. It asks for `collections.abc`, and the package around that takes longer than all
    of apsw: so it is lent the module itself, under both names; whoever asks later gets the package.
    """
    lent = [name for name in ("collections", "collections.abc") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(lent, _collections_abc))
    try:
        import apsw  # noqa: F401, PLC0415
    except ImportError:
        return False
    finally:
        for name in lent:
            del sys.modules[name]
    return True


if __name__ == "__main__":
    _start()

"""Small libraries in C that a story preloads into real processes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def compiled(source: str, folder: Path) -> Path:
    """Compile a file that lies beside this one into a folder of the test's own."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "this story watches or misleads real processes: install a C compiler (cc, gcc or clang)"
    path = Path(__file__).with_name(source)
    library = folder / f"{path.stem}.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-o", str(library), str(path), "-ldl"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return library

"""What a person sees while the first `make run` installs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.install import count, progress

ROOT = Path(__file__).resolve().parents[2]


def test_a_lock_file_tells_how_many_packages_it_names():
    assert (
        count(["# made by make lock", "apsw==3.54 \\", "    --hash=sha256:00", "    # via holdfast", "click==8"]) == 2
    )
    assert count((ROOT / "requirements" / "run.txt").read_text().splitlines()) > 20


def test_what_pip_says_becomes_how_far_it_is():
    said = [
        "Ignoring pywin32: markers 'sys_platform == \"win32\"' don't match your environment\n",
        "Requirement already satisfied: anyio==4.16.0 in ./.venv/lib (from -r requirements/run.txt (line 9)) (4.16.0)\n",
        "Collecting apsw==3.54.1.0 (from -r requirements/run.txt (line 15))\n",
        "  Downloading apsw-3.54.1.0.whl (7.2 MB)\n",
        "Installing collected packages: apsw\n",
        "Successfully installed apsw-3.54.1.0\n",
    ]
    assert list(progress(said, 3)) == ["1 of 2: anyio", "2 of 2: apsw", "unpacking"]
    assert list(progress(["Collecting holdfast\n"], 0)) == []


def test_an_install_that_fails_says_what_pip_said(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text(f"no-such-package-of-holdfast==1 --hash=sha256:{'0' * 64}\n")
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "install.py", lock, "next to nothing"],
        env=os.environ | {"PIP_NO_INDEX": "1"}, capture_output=True, check=False, text=True, timeout=120,
    )  # fmt: skip
    assert run.returncode == 1
    assert run.stdout == f"Installing 1 packages into {sys.prefix}, next to nothing. This is done once.\n"
    assert "No matching distribution found for no-such-package-of-holdfast==1" in run.stderr
    assert run.stderr.endswith("Is there a network?\n")


def test_wrong_use_is_told():
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "install.py"], capture_output=True, check=False, text=True, timeout=60
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert "requirements/run.txt" in run.stderr

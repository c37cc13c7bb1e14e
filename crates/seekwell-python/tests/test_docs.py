"""The guide's examples run, and the module is typed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TOP

GUIDE = (TOP / "docs" / "python.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


def test_the_examples_of_the_guide_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A figure needs no display.
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict = {}
    for block in BLOCKS:
        needed = [name for name in ("ray", "matplotlib") if name in block]
        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        if missing:
            print(f"skipped: {missing[0]} is not installed")
            continue
        exec(compile(block, "docs/python.md", "exec"), names)
    assert len(BLOCKS) > 3
    if "plt" in names:
        assert (tmp_path / "miss-ratio.png").stat().st_size > 10_000


def test_the_module_is_typed():
    pytest.importorskip("mypy", reason="skipped: mypy is not installed")
    package = Path(__file__).parents[1]
    command = [sys.executable, "-m", "mypy", "--strict", "python/seekwell"]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    stubs = [sys.executable, "-m", "mypy.stubtest", "seekwell"]
    done = subprocess.run(stubs, cwd=package, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

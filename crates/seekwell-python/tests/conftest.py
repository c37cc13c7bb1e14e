"""What all tests share."""

import os
from pathlib import Path

import pytest
import seekwell

TOP = Path(__file__).parents[3]

# At their usual nice 15, Ray's workers get 3 % of a processor that is busy.
os.environ["RAY_worker_niceness"] = "0"


@pytest.fixture
def machine() -> seekwell.Machine:
    return seekwell.Machine.load("sata-7200")


@pytest.fixture
def job() -> seekwell.Job:
    return seekwell.Job(rw="randread", bs="4k", iodepth=8, runtime="500ms")


@pytest.fixture(scope="session")
def program() -> str:
    """The command line program, from the same tree."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target"))
    program = target / "debug" / "seekwell"
    if not program.exists():
        pytest.skip(f"skipped: {program} is not built")
    return str(program)

from os import PathLike
from typing import Any, Mapping, Protocol, Sequence, final

__all__ = [
    "Stop",
    "Job",
    "Comparison",
    "compare",
    "runs",
    "Machine",
    "Run",
    "plan_machine",
    "run_cells",
    "simulate",
    "Stats",
    "usual_rate",
    "Table",
    "Trace",
    "scan",
]

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

_Value = bool | int | float | str
_Path = str | PathLike[str]

class _Cell(Protocol):
    @property
    def machine(self) -> Machine: ...
    @property
    def job(self) -> Job: ...
    @property
    def seed(self) -> int: ...
    @property
    def repeats(self) -> int: ...
    @property
    def values(self) -> Mapping[str, _Value]: ...

@final
class Machine:
    """A modelled machine. Each worker loads it from its path, so all need the same description."""

    @staticmethod
    def load(name: _Path, set: Mapping[str, _Value] | None = None) -> Machine:
        """Loads a description: the name of a built-in machine or the path of a `.toml` file."""
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def capacity_bytes(self) -> int: ...
    @property
    def digest(self) -> str:
        """SHA-256 of all parameters: equal for machines that behave equally."""
    @property
    def set(self) -> dict[str, str]:
        """What differs from the description."""
    def describe(self) -> dict[str, Any]:
        """The document of `seekwell machine show --json`."""
    def __hash__(self) -> int: ...

@final
class Job:
    """What a machine is asked to do: drawn requests, by the options of `seekwell bench`."""

    def __new__(cls, **options: _Value | None) -> Job: ...
    @staticmethod
    def from_fio(text: str) -> Job:
        """The jobs of a fio job file, given as its text."""
    @staticmethod
    def from_trace(path: _Path, mode: str = "timed", **options: _Value | None) -> Job:
        """A trace to be played, by the options of `seekwell replay`."""
    def replace(self, **options: _Value | None) -> Job:
        """The same job with other options."""
    def __hash__(self) -> int: ...

@final
class Run:
    """A run of a job on a modelled machine."""

    @property
    def document(self) -> dict[str, Any]:
        """The document of `seekwell bench --json`, `seekwell/run/1`."""
    @property
    def valid(self) -> bool:
        """Whether everything that was measured is valid."""
    @property
    def notes(self) -> list[str]:
        """What was said beside the result."""
    def metrics(self) -> Table:
        """A row for each metric of each phase."""
    def limits(self) -> Table:
        """A row for each phase that says what limits it; empty where nothing is said."""

@final
class Table:
    """A table. Whatever reads Arrow streams takes it without a copy."""

    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    @staticmethod
    def parse(contents: Sequence[bytes]) -> Table:
        """Reads the contents of Arrow files of one schema as one table."""

@final
class Trace:
    """Traces, one after the other, as a stream of record batches."""

    @property
    def columns(self) -> list[str]: ...
    @property
    def epoch_ns(self) -> int | None:
        """What its times count from, in nanoseconds since 1970; `None` where that is not known, or
        not the same in all of its files."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class Comparison:
    """Two sides, and what may be concluded."""

    @property
    def document(self) -> dict[str, Any]:
        """The document of `seekwell compare --json`."""
    @property
    def summary(self) -> list[str]:
        """What follows, in sentences."""
    def metrics(self) -> Table:
        """A row for each metric of each workload."""

@final
class Stats:
    """Statistics of any number of devices. Whoever gathers which devices, and in whatever order
    the parts are merged, the digest is the same."""

    def __new__(
        cls,
        rate_log2: int = 0,
        policies: Sequence[str] = ...,
        epoch_ns: int | None = None,
        only: Sequence[str] | None = None,
    ) -> Stats:
        """Nothing seen yet. One block in `2**rate_log2` is followed. The times of tables count from
        `epoch_ns`, in nanoseconds since 1970. With `only`, these figures are gathered and no
        others: `counts`, `sizes`, `arrivals`, `queue`, `latencies`, `order`, `space`, `reuse`,
        `alignment`, `idle`, `devices`, `processes`."""
    def update(self, source: _Path | _ArrowStream) -> None:
        """Adds a trace, or a table with the columns of `scan`: `time_ns`, `device`, `op`,
        `offset_bytes`, `length_bytes` and any of `queued_ns`, `issued_ns`, `completed_ns`, `flags`,
        `process` and `error`. Each call brings devices of its own."""
    def update_partition(self, partition: tuple[str, str], stop: Stop | None = None) -> None:
        """Adds the devices of one part of a trace."""
    def merge(self, other: Stats) -> None:
        """Adds what another has gathered, of other devices."""
    def to_bytes(self) -> bytes:
        """All that is known, as `seekwell trace stats -o NAME.stats` writes it."""
    @staticmethod
    def from_bytes(contents: bytes) -> Stats:
        """Reads what `to_bytes` gave."""
    @property
    def digest(self) -> str:
        """SHA-256 of the figures."""
    def finish(self, name: str = "") -> dict[str, Any]:
        """The document of `seekwell trace stats --json`."""

@final
class Stop:
    """Ends calls in other threads."""

    def set(self) -> None: ...

def simulate(machine: Machine, job: Job, seed: int = 1, repeats: int = 1) -> Run:
    """Runs a job on a modelled machine."""

def plan_machine(
    machine: Machine, job: Job, limits: Sequence[str], requests: int, seed: int
) -> str:
    """What a machine bears of a load, as JSON: a row of `seekwell machine plan --json`."""

def run_cells(
    first: int,
    cells: Sequence[_Cell],
    axes: Sequence[tuple[str, str]],
    stop: Stop | None = None,
) -> bytes:
    """Runs some cells of a sweep, numbered from `first` on; gives their rows as an Arrow file."""

def scan(paths: _Path | Sequence[_Path], format: str | None = None) -> Trace:
    """Traces of any format, by their paths or the names of built-in ones."""

def usual_rate(path: _Path) -> int:
    """The rate at which blocks of a file are followed where none is given."""

def runs(dir: _Path | None = None) -> Table:
    """The kept runs, the newest first, as `seekwell runs list --json` tells of them."""

def compare(
    a: str | PathLike[str] | Run | Sequence[Run],
    b: str | PathLike[str] | Run | Sequence[Run],
    metric: str | None = None,
    margin: float | None = None,
    different_workloads: bool = False,
    runs_dir: _Path | None = None,
) -> Comparison:
    """Compares two sides as `seekwell compare` does; `margin` is in per cent."""

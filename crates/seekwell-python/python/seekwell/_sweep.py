"""Many cells: a job on a machine with a seed, each, spread over any executor."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from ._native import Job, Machine, Table, run_cells
from ._spread import cores, spread

Value = bool | int | float | str
Part = tuple[int, int]
"""The first cell of a part of the results and the one after its last."""

_SCHEMA = "seekwell/sweep/1"


@dataclass(frozen=True)
class Cell:
    """A job on a machine."""

    machine: Machine
    job: Job
    seed: int = 1
    repeats: int = 1
    values: Mapping[str, Value] = field(default_factory=dict, compare=False)
    """Its values on the axes of its grid."""


class SweepError(RuntimeError):
    """Some cells gave nothing. The rest is whole: in `table`, and in the folder if there is one."""

    def __init__(self, failed: Mapping[Part, Exception], table: Table, out: Path | None):
        first, last = min(failed), max(failed)
        why = failed[first]
        cells = sum(end - begin for begin, end in failed)
        where = f"cells {first[0]} to {last[1] - 1}" if cells > 1 else f"cell {first[0]}"
        rest = f"the rest is in {out}, and resume=True goes on" if out else "the rest is whole"
        super().__init__(f"{cells} cells failed, among {where}: {type(why).__name__}: {why}; {rest}")
        self.failed = failed
        self.table = table


def grid(base: Cell, **axes: Iterable[Any]) -> list[Cell]:
    """Every combination of values.

    An axis is an option of the job (``iodepth=[1, 32]``), a parameter of the machine, which has a
    dot (``**{"controller.ncq": [False, True]}``), or ``machine``, ``job``, ``seed`` or ``repeats``.
    """
    machines: dict[str, Machine] = {}
    cells = []
    for values in product(*axes.values()):
        # Scalars of numpy become numbers.
        plain = (value.item() if hasattr(value, "item") else value for value in values)
        point = dict(zip(axes, plain))
        machine = point.get("machine", base.machine)
        if not isinstance(machine, Machine):
            machine = Machine.load(machine, dict(base.machine.set))
        parameters = {key: value for key, value in point.items() if "." in key}
        if parameters:
            key = f"{machine.digest} {machine.path} {parameters}"
            if key not in machines:
                machines[key] = Machine.load(machine.path, {**machine.set, **parameters})
            machine = machines[key]
        own = ("machine", "job", "seed", "repeats", *parameters)
        options = {key: value for key, value in point.items() if key not in own}
        job: Job = point.get("job", base.job)
        cells.append(
            replace(
                base,
                machine=machine,
                job=job.replace(**options) if options else job,
                seed=point.get("seed", base.seed),
                repeats=point.get("repeats", base.repeats),
                values={**base.values, **{key: _plain(value) for key, value in point.items()}},
            )
        )
    return cells


def _plain(value: Any) -> Value:
    if isinstance(value, Machine):
        return value.name
    return value if isinstance(value, bool | int | float | str) else repr(value)


def sweep(
    cells: Iterable[Cell],
    executor: Executor | None = None,
    *,
    out: str | PathLike[str] | None = None,
    resume: bool = True,
    chunk: int | None = None,
) -> Table:
    """Runs all cells, and gives a row for each metric of each phase of each cell.

    ``executor`` is any of ``concurrent.futures``; without one, threads on all cores. ``out`` is a
    folder in which each task leaves one Arrow file; ``resume`` computes only what is not there.
    """
    todo = list(cells)
    axes = _axes(todo)
    folder = _Folder(Path(out), todo, axes, resume) if out is not None else None
    done = folder.parts() if folder else {}
    parts = _missing(done, len(todo), chunk or max(1, min(100, len(todo) // 64)))
    failed: dict[Part, Exception] = {}
    tasks = ((part, (part[0], todo[slice(*part)], axes)) for part in parts)
    with nullcontext(executor) if executor else ThreadPoolExecutor(cores()) as workers:
        with closing(spread(workers, run_cells, tasks)) as results:
            for part, result in results:
                if isinstance(result, Exception):
                    failed[part] = result
                    continue
                if folder:
                    folder.write(part, result)
                done[part] = result
    table = Table.parse([done[part] for part in sorted(done)])
    if failed:
        raise SweepError(failed, table, folder.path if folder else None)
    return table


def _axes(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Names and types of the axes."""
    axes = []
    for name in dict.fromkeys(name for cell in cells for name in cell.values):
        try:
            types = {type(cell.values[name]) for cell in cells}
        except KeyError:
            raise ValueError(f"some cells have no value on the axis {name}") from None
        kind = "float" if types == {int, float} else min(types, key=lambda t: t.__name__).__name__
        if len(types) > 1 and kind != "float":
            raise ValueError(f"the values on the axis {name} are not of one type")
        axes.append((name, kind))
    return axes


def _missing(done: Iterable[Part], cells: int, chunk: int) -> list[Part]:
    """What is not done yet, in pieces."""
    missing = []
    begin = 0
    for first, after in [*sorted(done), (cells, cells)]:
        missing += [(at, min(at + chunk, first)) for at in range(begin, first, chunk)]
        begin = after
    return missing


class _Folder:
    """The results of a sweep: a file for each part, and one that says of which sweep they are."""

    def __init__(
        self, path: Path, cells: Sequence[Cell], axes: Sequence[tuple[str, str]], resume: bool
    ):
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        of = hashlib.sha256()
        for cell in cells:
            values = [cell.values[name] for name, _ in axes]
            key = (cell.machine.digest, repr(cell.job), cell.seed, cell.repeats, values)
            of.update(repr(key).encode())
        about = {"schema": _SCHEMA, "digest": of.hexdigest(), "cells": len(cells), "axes": axes}
        text = json.dumps(about, indent=2)
        known = path / "sweep.json"
        if known.exists() and not resume:
            raise FileExistsError(f"{path} holds a sweep; with resume=True it goes on")
        if known.exists() and known.read_text() != text:
            raise ValueError(f"{path} holds another sweep; give each a folder of its own")
        if not known.exists():
            self._write(known, text.encode())

    def _file(self, part: Part, contents: bytes) -> Path:
        """Its name holds a checksum."""
        checksum = hashlib.sha256(contents).hexdigest()[:16]
        return self.path / f"part-{part[0]:09}-{part[1]:09}-{checksum}.arrow"

    def parts(self) -> dict[Part, bytes]:
        """What is whole. What is damaged is said, and computed again."""
        whole: dict[Part, bytes] = {}
        reached = 0
        for file in sorted(self.path.glob("part-*-*-*.arrow")):
            _, begin, end, _ = file.stem.split("-")
            part, contents = (int(begin), int(end)), file.read_bytes()
            if self._file(part, contents) == file:
                # Two sweeps into one folder may have cut it differently.
                if part[0] >= reached:
                    whole[part], reached = contents, part[1]
                continue
            warnings.warn(f"{file} is damaged; its cells are computed again", stacklevel=3)
            file.unlink()
        return whole

    def write(self, part: Part, contents: bytes) -> None:
        self._write(self._file(part, contents), contents)

    def _write(self, file: Path, contents: bytes) -> None:
        """Whole or not at all."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.path, prefix=".", delete=False) as beside:
                try:
                    beside.write(contents)
                    beside.flush()
                    os.fsync(beside.fileno())
                    os.replace(beside.name, file)
                except BaseException:
                    os.unlink(beside.name)
                    raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file)) from error

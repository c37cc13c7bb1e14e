"""Statistics of traces, spread over any executor."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from contextlib import closing
from os import PathLike
from typing import Literal, Mapping, NamedTuple, Sequence

from ._native import Stats, Stop, usual_rate
from ._spread import cores, spread

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


class Partition(NamedTuple):
    """What one worker takes: some devices of a trace."""

    path: str
    shard: str
    """Which of the parts of its trace, as `seekwell trace stats --shard` has it: `1/4`."""


class StatsError(RuntimeError):
    """Some partitions could not be read. ``stats`` holds the rest; once ``failed`` can be read,
    ``stats.update_partition`` adds them."""

    def __init__(self, failed: Mapping[Partition, Exception], stats: Stats):
        first = min(failed)
        path, shard = first
        why = failed[first]
        which = path if shard == "1/1" else f"part {shard} of {path}"
        super().__init__(
            f"{len(failed)} partitions failed, among them {which}: {type(why).__name__}: {why}; "
            "the rest is whole"
        )
        self.failed = failed
        self.stats = stats


def partitions(
    paths: Paths, by: Literal["device"] = "device", parts: int | None = None
) -> list[Partition]:
    """Divides traces into about ``parts`` partitions, by default one for each core of this machine.
    Each device is in one. Each partition reads its whole file; with many files, a partition is a
    file."""
    if by != "device":
        raise ValueError(f"by={by}: device is needed")
    files = _several(paths)
    of = max(1, (parts or cores()) // max(1, len(files)))
    return [Partition(file, f"{at}/{of}") for file in files for at in range(1, of + 1)]


def stats(
    paths: Paths,
    executor: Executor | None = None,
    *,
    rate_log2: int | None = None,
    policies: Sequence[str] = (),
    only: Sequence[str] | None = None,
) -> Stats:
    """The statistics of some traces, of which no two hold the same device: all, or ``only`` some
    figures. The digest is the same with any executor, and without one, when all cores of this
    machine are used."""
    files = _several(paths)
    if rate_log2 is None:
        rate_log2 = max(map(usual_rate, files), default=0)
    how = _How(rate_log2, list(policies), None if only is None else list(only))
    whole = how.begun()
    failed: dict[Partition, Exception] = {}
    if executor is None:
        for file in files:
            try:
                whole.update(file)
            except Exception as error:
                failed[Partition(file, "1/1")] = error
    else:
        workers = getattr(executor, "_max_workers", None)
        tasks = ((one, (one, how)) for one in partitions(files, parts=workers))
        with closing(spread(executor, _gather, tasks)) as results:
            for partition, result in results:
                try:
                    if isinstance(result, Exception):
                        raise result
                    whole.merge(Stats.from_bytes(result))
                except Exception as error:
                    failed[partition] = error
    if failed:
        raise StatsError(failed, whole)
    return whole


class _How(NamedTuple):
    rate_log2: int
    policies: list[str]
    only: list[str] | None

    def begun(self) -> Stats:
        return Stats(self.rate_log2, self.policies, only=self.only)


def _gather(partition: Partition, how: _How, stop: Stop | None) -> bytes:
    stats = how.begun()
    stats.update_partition(partition, stop)
    return stats.to_bytes()


def _several(paths: Paths) -> list[str]:
    if isinstance(paths, str | PathLike):
        paths = [paths]
    return [os.fspath(path) for path in paths]

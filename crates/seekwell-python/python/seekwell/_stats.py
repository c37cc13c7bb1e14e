"""Statistics of traces, spread over any executor."""

from __future__ import annotations

import os
from concurrent.futures import Executor, as_completed
from os import PathLike
from typing import Literal, NamedTuple, Sequence

from ._native import Stats, devices, usual_rate

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


class Partition(NamedTuple):
    """What one worker takes: a device of a trace."""

    path: str
    device: str


def partitions(paths: Paths, by: Literal["device"] = "device") -> list[Partition]:
    """The devices of some traces."""
    if by != "device":
        raise ValueError(f"by={by}: device is needed")
    return [Partition(str(path), device) for path, device in devices(_several(paths))]


def stats(
    paths: Paths,
    executor: Executor | None = None,
    *,
    rate_log2: int | None = None,
    policies: Sequence[str] = (),
) -> Stats:
    """The statistics of some traces, of which no two hold the same device. The digest is the same
    with any executor, and without one, when all cores of this machine are used."""
    files = _several(paths)
    if rate_log2 is None:
        rate_log2 = max(map(usual_rate, files), default=0)
    whole = Stats(rate_log2, list(policies))
    if executor is None:
        for file in files:
            whole.update(file)
        return whole
    options = rate_log2, list(policies)
    parts = [executor.submit(_gather, part, *options) for part in partitions(files)]
    for part in as_completed(parts):
        whole.merge(Stats.from_bytes(part.result()))
    return whole


def _gather(partition: Partition, rate_log2: int, policies: list[str]) -> bytes:
    stats = Stats(rate_log2, policies)
    stats.update_partition(partition)
    return stats.to_bytes()


def _several(paths: Paths) -> list[str]:
    if isinstance(paths, str | PathLike):
        paths = [paths]
    return [os.fspath(path) for path in paths]

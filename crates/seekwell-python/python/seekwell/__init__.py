"""Modelled disks, block traces and kept runs, as Arrow tables.

Whatever reads Arrow streams takes the tables without a copy: ``polars.DataFrame(table)``,
``pyarrow.table(table)``, DuckDB. Devices are measured by the command line program alone.
"""

from ._native import (
    Comparison,
    Job,
    Machine,
    Run,
    Stats,
    Table,
    Trace,
    compare,
    runs,
    scan,
    simulate,
)
from ._plan import plan
from ._stats import Partition, StatsError, partitions, stats
from ._sweep import Cell, SweepError, grid, sweep

__all__ = [
    "Cell",
    "Comparison",
    "Job",
    "Machine",
    "Partition",
    "Run",
    "Stats",
    "StatsError",
    "SweepError",
    "Table",
    "Trace",
    "compare",
    "grid",
    "partitions",
    "plan",
    "runs",
    "scan",
    "simulate",
    "stats",
    "sweep",
]

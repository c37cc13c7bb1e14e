"""Which machines bear a load."""

from concurrent.futures import ProcessPoolExecutor

import pytest
import seekwell

MACHINES = ["sata-ssd", "nvme-ssd"]
JOB = seekwell.Job(rw="randread", iodepth=16, rate_iops=4000)


def test_a_plan_says_what_each_machine_bears_in_threads_and_in_processes():
    rows = seekwell.plan(MACHINES, JOB, {"p99": "5ms"}, requests=2000)
    assert [row["machine"] for row in rows] == ["sata-ssd", "nvme-ssd"]
    slow, fast = (row["most"]["factor"] for row in rows)
    assert all(row["given"]["holds"] for row in rows) and fast > slow
    for row in rows:
        factors = [trial["factor"] for trial in row["trials"]]
        assert factors == sorted(factors) and row["breaks"]["factor"] in factors
    with ProcessPoolExecutor(2) as processes:
        assert seekwell.plan(MACHINES, JOB, {"p99": "5ms"}, processes, requests=2000) == rows


def test_a_trace_is_planned_and_what_says_nothing_is_a_value_error():
    trace = seekwell.Job.from_trace("web-light")
    (row,) = seekwell.plan(["nvme-ssd"], trace, {"p99": "5ms", "iops": 1})
    assert [reached["figure"] for reached in row["given"]["figures"]] == ["p99", "iops"]
    with pytest.raises(ValueError, match="p99=5ms"):
        seekwell.plan(MACHINES, JOB, {"p98": "5ms"})
    with pytest.raises(ValueError, match="Job.from_trace"):
        seekwell.plan(MACHINES, seekwell.Job.from_fio("[a]\nrw=read\n"), {"p99": "5ms"})

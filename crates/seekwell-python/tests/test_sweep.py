"""Grids and sweeps."""

import errno
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import polars as pl
import pytest
import seekwell
from seekwell import _sweep


@pytest.fixture
def cells(machine):
    base = seekwell.Cell(machine, seekwell.Job(rw="randread", runtime="2s"))
    axes = {"iodepth": [1, 8], "controller.ncq": [False, True], "seed": range(3)}
    return seekwell.grid(base, **axes)


def frame(table):
    return pl.DataFrame(table).sort("cell", "phase", "metric")


def test_a_grid_has_every_combination_of_jobs_and_machines(cells):
    assert len(cells) == 12
    last = cells[-1]
    assert last.machine.set == {"controller.ncq": "true"} and last.seed == 2
    assert last.job == seekwell.Job(rw="randread", runtime="2s", iodepth=8)
    assert last.values == {"iodepth": 8, "controller.ncq": True, "seed": 2}


def test_an_axis_may_be_of_machines_or_of_jobs(machine):
    base = seekwell.Cell(machine, seekwell.Job(runtime="100ms"))
    jobs = [seekwell.Job(rw="read"), seekwell.Job(rw="randread")]
    cells = seekwell.grid(base, machine=["sata-ssd", machine], job=jobs)
    assert [cell.machine.name for cell in cells] == ["sata-ssd"] * 2 + ["sata-7200"] * 2
    assert [cell.job for cell in cells] == jobs * 2


def test_a_sweep_is_the_same_alone_in_threads_and_in_processes(cells):
    alone = frame(seekwell.sweep(cells[:6]))
    with ThreadPoolExecutor(2) as threads:
        assert frame(seekwell.sweep(cells[:6], threads, chunk=2)).equals(alone)
    with ProcessPoolExecutor(2) as processes:
        assert frame(seekwell.sweep(cells[:6], processes, chunk=4)).equals(alone)


def test_a_cell_gives_what_its_run_gives(cells):
    table = frame(seekwell.sweep(cells))
    cell = cells[7]
    run = pl.DataFrame(seekwell.simulate(cell.machine, cell.job, seed=cell.seed).metrics())
    swept = table.filter(pl.col("cell") == 7)
    assert swept.select(run.columns).equals(run.sort("phase", "metric"))
    assert swept["iodepth"].dtype == pl.Int64 and swept["controller.ncq"].dtype == pl.Boolean
    assert swept["iodepth"][0] == 8 and table["error"].null_count() == len(table)


def test_a_cell_that_cannot_be_measured_says_why_and_the_others_are_measured(machine):
    base = seekwell.Cell(machine, seekwell.Job(runtime="2s"))
    table = frame(seekwell.sweep(seekwell.grid(base, size=["1g", "900t"])))
    assert table.filter(cell=0)["error"].null_count() == len(table) - 1
    assert "the modelled disk holds" in table.filter(cell=1)["error"].item()


def test_a_parameter_that_no_machine_has_is_named():
    base = seekwell.Cell(seekwell.Machine.load("sata-7200"), seekwell.Job())
    with pytest.raises(ValueError, match="controller.nqc"):
        seekwell.grid(base, **{"controller.nqc": [True]})


def test_a_sweep_that_was_cut_short_goes_on(cells, tmp_path, monkeypatch):
    out = tmp_path / "out"
    whole = frame(seekwell.sweep(cells, out=out, chunk=3))
    files = sorted(out.glob("part-*"))
    assert len(files) == 4
    files[1].unlink()
    damaged = bytearray(files[3].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    files[3].write_bytes(damaged)
    computed = []
    real = _sweep.run_cells

    def noted(first, of, *more):
        computed.extend(range(first, first + len(of)))
        return real(first, of, *more)

    monkeypatch.setattr(_sweep, "run_cells", noted)
    with pytest.warns(UserWarning, match=f"{files[3].name} is damaged"):
        again = frame(seekwell.sweep(cells, out=out, chunk=2))
    assert sorted(computed) == [3, 4, 5, 9, 10, 11]
    assert again.equals(whole)


def test_the_folder_of_another_sweep_is_refused(cells, tmp_path):
    seekwell.sweep(cells[:2], out=tmp_path)
    with pytest.raises(ValueError, match="holds another sweep"):
        seekwell.sweep(cells[:3], out=tmp_path)
    with pytest.raises(FileExistsError, match="resume=True"):
        seekwell.sweep(cells[:2], out=tmp_path, resume=False)


DIES = """
import os, sys
from concurrent.futures import ProcessPoolExecutor
import seekwell
from seekwell import _sweep

real, out = _sweep.run_cells, sys.argv[1]

def dying(first, *more):
    if first == 4 and os.path.exists(out + "/kill"):
        os.remove(out + "/kill")
        os._exit(9)
    return real(first, *more)

_sweep.run_cells = dying
base = seekwell.Cell(seekwell.Machine.load("sata-7200"), seekwell.Job(runtime="2s"))
cells = seekwell.grid(base, seed=range(8))
with ProcessPoolExecutor(1) as workers:
    print(len(seekwell.sweep(cells, workers, out=out, chunk=2)))
"""


def test_a_worker_that_dies_is_named_and_the_next_sweep_goes_on(tmp_path):
    (tmp_path / "kill").touch()
    run = lambda: subprocess.run(
        [sys.executable, "-c", DIES, str(tmp_path)], capture_output=True, text=True
    )
    died = run()
    assert died.returncode == 1
    assert "SweepError: 4 cells failed, among cells 4 to 7: BrokenProcessPool" in died.stderr
    assert "resume=True goes on" in died.stderr
    assert len(list(tmp_path.glob("part-*"))) == 2
    assert run().returncode == 0
    assert len(list(tmp_path.glob("part-*"))) == 4


def test_a_full_disk_is_said_by_name_and_what_was_kept_is_whole(cells, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = os.geteuid() == 0 and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20k", "none", small], stderr=subprocess.DEVNULL
    ).returncode
    if not mounted:
        pytest.skip("skipped: a small file system needs root")
    try:
        with pytest.raises(OSError) as full:
            seekwell.sweep(cells, out=small, chunk=1)
        assert full.value.errno == errno.ENOSPC and "part-" in full.value.filename
        kept = list(small.glob("part-*"))
        assert kept and all(len(seekwell.Table.parse([file.read_bytes()])) for file in kept)
        assert not list(small.glob(".*"))
    finally:
        subprocess.run(["umount", small], check=True)


def test_the_benchmark_runs():
    command = [sys.executable, "-m", "seekwell.bench", "--cells=40", "--rounds=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "2 threads beside one: " in done.stdout, done.stderr


def test_ctrl_c_ends_a_sweep():
    story = (
        "import os, signal, threading, seekwell\n"
        "base = seekwell.Cell(seekwell.Machine.load('nvme-ssd'), seekwell.Job(runtime='600h'))\n"
        "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "seekwell.sweep(seekwell.grid(base, iodepth=[1, 2, 3]))\n"
    )
    done = subprocess.run([sys.executable, "-c", story], capture_output=True, text=True, timeout=90)
    assert "KeyboardInterrupt" in done.stderr


RAY = """
import os, sys
import polars as pl
import seekwell, seekwell.ray

def frame(table):
    return pl.DataFrame(table).sort("cell", "phase", "metric")

mark, real = sys.argv[1], seekwell._stats._gather

def dies_once(*arguments):
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return real(*arguments)
    os._exit(9)

base = seekwell.Cell(seekwell.Machine.load("sata-7200"), seekwell.Job(runtime="2s"))
cells = seekwell.grid(base, seed=range(20), iodepth=[1, 4])
asked = seekwell.Job(rw="randread", iodepth=4), {"mean": "1ms"}
with seekwell.ray.executor() as cluster:
    swept = frame(seekwell.sweep(cells, cluster, chunk=5))
    seekwell._stats._gather = dies_once
    digest = seekwell.stats("db-light", cluster).digest
    planned = seekwell.plan(["sata-ssd", "nvme-ssd"], *asked, cluster)
assert planned == seekwell.plan(["sata-ssd", "nvme-ssd"], *asked)
assert os.path.exists(mark)
assert digest == seekwell.stats("db-light").digest
assert swept.equals(frame(seekwell.sweep(cells)))
"""


def test_ray_gives_the_same_table_and_repeats_what_a_dead_worker_had(tmp_path):
    pytest.importorskip("ray", reason="skipped: ray is not installed")
    command = [sys.executable, "-c", RAY, str(tmp_path / "mark")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr

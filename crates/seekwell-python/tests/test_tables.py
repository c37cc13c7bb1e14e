"""Traces, kept runs and comparisons as tables."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import seekwell
from conftest import TOP

TRACE = TOP / "traces" / "db-light.parquet"


def test_a_stored_trace_has_the_rows_of_its_file():
    scanned, stored = pl.DataFrame(seekwell.scan(TRACE)), pl.read_parquet(TRACE)
    same = ["queued_ns", "issued_ns", "completed_ns", "offset_bytes", "pid", "cpu"]
    for name in same:
        assert scanned[name].cast(pl.Int64).equals(stored[name].cast(pl.Int64)), name
    assert scanned["op"].cast(pl.String).unique().sort().to_list() == ["flush", "read", "write"]
    assert scanned["time_ns"].is_sorted()


def test_a_store_of_several_groups_is_decoded_in_order(program, tmp_path):
    lines, store = tmp_path / "lines.csv", tmp_path / "store.parquet"
    rows = (f"{128166372003061629 + at * 10},web,2,Read,{at * 512},512,100\n" for at in range(600_000))
    lines.write_text("".join(rows))
    subprocess.run([program, "trace", "convert", lines, store], check=True, capture_output=True)
    assert pq.ParquetFile(store).num_row_groups > 2
    scanned = pl.DataFrame(seekwell.scan(store))
    assert scanned["offset_bytes"].equals(pl.read_parquet(store)["offset_bytes"])
    assert scanned["time_ns"].is_sorted() and len(scanned) == 600_000


def test_polars_pyarrow_and_duckdb_take_a_trace(tmp_path):
    file = tmp_path / "some.csv"
    file.write_text("128166372003061629,web,2,Read,4096,8192,100\n" * 3)
    trace = seekwell.scan([TRACE, file])
    rows = len(pl.DataFrame(seekwell.scan(TRACE))) + 3
    assert len(pl.DataFrame(trace)) == rows
    requests = pa.table(trace)
    assert requests.num_rows == rows and requests.schema.names == trace.columns
    # DuckDB finds it by its name.
    found = duckdb.sql("select device::text, count(*) from requests group by all order by 2")
    assert found.fetchall()[0] == ("web_2", 3)


def test_what_is_no_trace_is_said_before_anything_is_read(tmp_path):
    file = tmp_path / "no.trace"
    file.write_text("nothing\n")
    with pytest.raises(ValueError, match="no.trace"):
        seekwell.scan(file)
    with pytest.raises(ValueError, match="one of seekwell"):
        seekwell.scan(file, format="nonsense")
    with pytest.raises((ValueError, OSError)):
        seekwell.scan("/dev/null")


def test_a_trace_that_is_damaged_further_on_is_an_error_of_its_reader(tmp_path):
    damaged = bytearray(TRACE.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file = tmp_path / "damaged.parquet"
    file.write_bytes(damaged)
    with pytest.raises(Exception, match="damaged.parquet"):
        pa.table(seekwell.scan(file))


def test_the_kept_runs_are_those_of_runs_list(program, tmp_path):
    runs = ["--runs-dir", str(tmp_path)]
    bench = [program, "bench", "--on", "sata-7200.toml", "--runtime", "2s", "--label", "old"]
    subprocess.run([*bench, *runs], check=True, capture_output=True)
    listed = subprocess.run(
        [program, "runs", "list", "--json", *runs], check=True, capture_output=True
    )
    table = pl.DataFrame(seekwell.runs(tmp_path))
    assert table.to_dicts() == json.loads(listed.stdout)["runs"]
    broken = tmp_path / table["id"][0] / "run.json"
    broken.write_text("{")
    os.utime(broken)
    with pytest.warns(UserWarning, match="cannot be read"):
        assert len(seekwell.runs(tmp_path)) == 0


def test_a_comparison_is_that_of_the_command(program, tmp_path):
    runs = ["--runs-dir", str(tmp_path)]
    for label, ncq in [("with", "true"), ("without", "false")]:
        for seed in range(4):
            bench = "bench --on sata-7200.toml --runtime 2s --iodepth 16".split()
            more = ["--set", f"controller.ncq={ncq}", "--label", label, "--seed", str(seed)]
            subprocess.run([program, *bench, *more, *runs], check=True, capture_output=True)
    compared = subprocess.run(
        [program, "compare", "without", "with", "--json", *runs], check=True, capture_output=True
    )
    found = seekwell.compare("without", "with", runs_dir=tmp_path)
    assert found.document == json.loads(compared.stdout)
    metrics = pl.DataFrame(found.metrics())
    rate = metrics.row(by_predicate=pl.col("metric") == "read.requests_per_s", named=True)
    assert rate["conclusion"] == "faster" and rate["a_runs"] == 4 and rate["change_percent"] > 20


def test_modelled_runs_are_compared_without_being_kept(machine):
    job = seekwell.Job(rw="randread", iodepth=16, runtime="2s")
    without = seekwell.Machine.load("sata-7200", set={"controller.ncq": False})
    of = lambda machine: [seekwell.simulate(machine, job, seed=seed) for seed in range(4)]
    found = seekwell.compare(of(without), of(machine), metric="read.requests_per_s")
    assert "faster" in {row["conclusion"] for row in pl.DataFrame(found.metrics()).to_dicts()}
    assert found.summary
    with pytest.raises(ValueError, match="nosuch"):
        seekwell.compare("nosuch", "neither")


MSR = "128166372003061629,web,{disk},Read,{offset},8192,100\n"


@pytest.fixture
def traces(tmp_path):
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for at, file in enumerate(files):
        lines = (MSR.format(disk=2 * at + n % 2, offset=n * n % 97 * 8192) for n in range(600))
        file.write_text("".join(lines))
    return files


def test_statistics_have_one_digest_however_they_are_gathered(traces):
    alone = seekwell.stats(traces)
    assert len(seekwell.partitions(traces, parts=4)) == 4
    with ThreadPoolExecutor(2) as threads:
        assert seekwell.stats(traces, threads).digest == alone.digest
    with ProcessPoolExecutor(2) as processes:
        assert seekwell.stats(traces, processes).digest == alone.digest
    backwards = seekwell.Stats()
    for partition in reversed(seekwell.partitions(traces, by="device", parts=6)):
        one = seekwell.Stats()
        one.update_partition(partition)
        backwards.merge(seekwell.Stats.from_bytes(one.to_bytes()))
    assert backwards.digest == alone.digest


def test_a_file_is_read_once_where_there_are_files_enough(traces):
    whole = [seekwell.Partition(str(file), "1/1") for file in traces]
    assert seekwell.partitions(traces, parts=2) == whole
    assert seekwell.partitions(traces[0], parts=2)[1] == (str(traces[0]), "2/2")
    assert pickle.loads(pickle.dumps(whole)) == whole
    with pytest.raises(ValueError, match="3/2: I/N is wanted"):
        seekwell.Stats().update_partition((str(traces[0]), "3/2"))


def test_statistics_of_tables_are_those_of_their_files(traces):
    trace = seekwell.scan(traces)
    digest = seekwell.stats(traces).digest
    requests = pl.DataFrame(trace)
    needed = ["time_ns", "device", "op", "offset_bytes", "length_bytes", "completed_ns"]
    plain = requests.select(needed).with_columns(
        pl.col("device").cast(pl.String), pl.col("op").cast(pl.String)
    )
    tables = {
        "a scan": trace,
        "polars": requests,
        "polars, few columns as text": plain,
        "pyarrow": pa.table(trace),
        "a reader of batches": pa.RecordBatchReader.from_stream(trace),
        "DuckDB": duckdb.sql("select * from requests").to_arrow_table(),
        "DuckDB's text": duckdb.sql("select * replace (device::text as device) from plain"),
    }
    for name, table in tables.items():
        stats = seekwell.Stats(epoch_ns=trace.epoch_ns)
        stats.update(table)
        assert stats.digest == digest, name
    undated = seekwell.Stats()
    undated.update(requests)
    assert undated.digest != digest


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"op": None}, ValueError, "no column op, only time_ns, device"),
        ({"offset_bytes": [0.5]}, TypeError, "offset_bytes: integers are needed, not Float64"),
        ({"device": [7]}, TypeError, "device: text is needed, not Int64"),
        ({"op": ["append"]}, ValueError, "record 0: expected an op: read, write"),
        ({"offset_bytes": [-1]}, ValueError, "record 0: expected an offset_bytes of 0 or more"),
        ({"device": pa.array([None], pa.string())}, ValueError, "record 0: expected a device"),
    ],
)
def test_a_table_that_holds_no_requests_is_refused_by_its_column(change, error, said):
    columns = {"time_ns": [1], "device": ["a"], "op": ["read"], "offset_bytes": [0]}
    columns = {**columns, "length_bytes": [512], **change}
    table = pa.table({name: column for name, column in columns.items() if column is not None})
    stats = seekwell.Stats()
    with pytest.raises(error, match=said):
        stats.update(table)
    with pytest.raises(TypeError, match="a path or a table .* is needed, not int"):
        stats.update(7)
    assert stats.digest == seekwell.Stats().digest


def test_a_damaged_trace_is_named_and_the_statistics_of_the_rest_are_whole(traces):
    whole, good = seekwell.stats(traces).digest, traces[1].read_text()
    traces[1].write_text(good + "damaged\n")
    with ProcessPoolExecutor(2) as processes:
        for executor in (None, processes):
            with pytest.raises(seekwell.StatsError, match=f"1 partitions .* {traces[1]}") as said:
                seekwell.stats(traces, executor)
            assert said.value.stats.digest == seekwell.stats(traces[0]).digest
    traces[1].write_text(good)
    for partition in said.value.failed:
        said.value.stats.update_partition(partition)
    assert said.value.stats.digest == whole


STATS_DIE = """
import os, sys
from concurrent.futures import ProcessPoolExecutor
import seekwell
from seekwell import _stats

def dying(partition, *more):
    os._exit(9)

real, _stats._gather = _stats._gather, dying
try:
    with ProcessPoolExecutor(1) as workers:
        seekwell.stats(sys.argv[1:], workers)
except seekwell.StatsError as error:
    print(error)
    for partition in error.failed:
        error.stats.update_partition(partition)
    print(error.stats.digest)
"""


def test_a_worker_that_dies_is_named_by_its_partition(traces):
    command = [sys.executable, "-c", STATS_DIE, *map(str, traces)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said, digest = done.stdout.splitlines()
    assert f"2 partitions failed, among them {traces[0]}: BrokenProcessPool" in said
    assert digest == seekwell.stats(traces).digest


LONG = """
import sys, pyarrow as pa, polars as pl, seekwell
trace = seekwell.scan([sys.argv[2]] * 3000)
batch = pa.table(seekwell.scan(sys.argv[2])).to_batches()[0]
endless = pa.RecordBatchReader.from_batches(batch.schema, iter(lambda: batch, None))
print("begun", flush=True)
try:
    if sys.argv[1] == "stats":
        seekwell.Stats().update(endless)
    else:
        {"polars": pl.DataFrame, "pyarrow": pa.table}[sys.argv[1]](trace)
except KeyboardInterrupt:
    print("KeyboardInterrupt of its own")
except Exception as error:
    # A reader knows errors of a stream alone.
    print(error)
"""


@pytest.mark.parametrize("reader", ["polars", "pyarrow", "stats"])
def test_ctrl_c_ends_reading_between_batches(reader):
    running = subprocess.Popen(
        [sys.executable, "-c", LONG, reader, str(TRACE)], stdout=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "begun\n"
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    own = " of its own" if reader == "stats" else ""
    assert f"KeyboardInterrupt{own}" in said


def test_statistics_are_those_of_trace_stats(program):
    command = [program, "trace", "stats", TRACE, "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert seekwell.stats(TRACE).finish(str(TRACE)) == json.loads(told)


def test_what_does_not_merge_says_why(traces):
    stats, other = seekwell.stats(traces), seekwell.Stats(rate_log2=3)
    with pytest.raises(ValueError, match="do not merge with themselves"):
        stats.merge(stats)
    with pytest.raises(ValueError, match="is in more than one of them"):
        stats.merge(seekwell.stats(traces[0]))
    other.update(traces[0])
    with pytest.raises(ValueError, match="sampled at a rate"):
        stats.merge(other)
    with pytest.raises(ValueError, match="s3-fifo"):
        seekwell.Stats(policies=["fancy"])
    with pytest.raises(RuntimeError, match="damaged or cut short"):
        seekwell.Stats.from_bytes(stats.to_bytes()[:-1])

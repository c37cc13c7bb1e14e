"""Machines, jobs and runs of them."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import polars as pl
import pytest
import seekwell
from conftest import TOP

TRACE = TOP / "traces" / "db-light.parquet"
FIO = "[a]\nrw=randrw\nbs=4k\nioengine=libaio\niodepth=8\nsize=1g\nruntime=2\ntime_based\n"


def asked(program, *arguments):
    """The document that the command line gives."""
    command = [program, *map(str, arguments), "--no-keep", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def settled(document):
    """What does not differ from run to run, or with how the program was built."""
    for key in ("id", "started_at", "ended_at"):
        document.pop(key)
    document["tool"].pop("git_commit")
    document["inspection"]["host"].pop("memory_available_bytes")
    return document


def test_a_plain_job_gives_the_document_that_bench_gives(program):
    machine = seekwell.Machine.load("sata-7200", set={"controller.ncq": False})
    job = seekwell.Job(rw="randread", bs=8192, iodepth=4, runtime="2s", offset="1g")
    run = seekwell.simulate(machine, job, seed=7, repeats=2)
    words = "bench --on sata-7200 --set controller.ncq=false --rw randread --bs 8k"
    more = "--iodepth 4 --runtime 2s --offset 1g --seed 7 --repeats 2"
    assert run.valid
    assert settled(run.document) == settled(asked(program, *words.split(), *more.split()))


def test_a_job_file_gives_the_document_that_bench_gives(program, tmp_path, machine):
    file = tmp_path / "job.fio"
    file.write_text(FIO)
    run = seekwell.simulate(machine, seekwell.Job.from_fio(FIO), seed=3)
    document = asked(program, "bench", file, "--on", "sata-7200", "--seed", 3)
    assert settled(run.document) == settled(document)


def test_a_trace_gives_the_document_that_replay_gives(program, machine):
    job = seekwell.Job.from_trace(TRACE, mode="depth", fit="modulo")
    run = seekwell.simulate(machine, job)
    words = ["--on", "sata-7200", "--mode", "depth", "--fit", "modulo"]
    assert settled(run.document) == settled(asked(program, "replay", TRACE, *words))


def test_a_machine_is_described_as_machine_show_describes_it(program):
    machine = seekwell.Machine.load("nvme-ssd", set={"host.tags": "split"})
    command = [program, "machine", "show", "nvme-ssd", "--set", "host.tags=split", "--json"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert machine.describe() == json.loads(shown)


def test_equal_seeds_give_equal_numbers_and_others_do_not(machine, job):
    of = lambda seed: pl.DataFrame(seekwell.simulate(machine, job, seed=seed).metrics())
    assert of(1).equals(of(1))
    assert not of(1).equals(of(2))


def test_the_table_of_limits_is_the_document_s(machine, job):
    run = seekwell.simulate(machine, job)
    table = pl.DataFrame(run.limits())
    stated = run.document.get("limits", [])
    assert table.columns == [
        "phase", "by", "name", "measured", "ceiling", "unit", "share", "confidence", "next_by",
        "next_gain", "request_bytes", "bytes_per_s",
    ]  # fmt: skip
    assert table["measured"].dtype == pl.Float64
    assert table["phase"].to_list() == [limit["phase"] for limit in stated]
    assert table["by"].to_list() == [limit["by"] for limit in stated]
    assert table["unit"].to_list() == [limit["unit"] for limit in stated]
    following = [limit["next"] or {} for limit in stated]
    assert table["next_by"].to_list() == [station.get("by") for station in following]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rw": "sideways"}, "rw=sideways: one of read, write"),
        ({"bs": "5x"}, 'bs=5x: "5x" is not a size'),
        ({"iodepth": 0}, "iodepth=0: a whole number from 1 to 4096 is needed"),
        ({"runtime": "soon"}, 'runtime=soon: "soon" is not a duration'),
        ({"iodpeth": 4}, "there is no option iodpeth; did you mean iodepth?"),
        ({"size": -1}, 'size=-1: "-1" is not a size'),
    ],
)
def test_what_a_job_does_not_take_is_a_value_error_with_the_sentence_of_the_library(options, said):
    with pytest.raises(ValueError) as refused:
        seekwell.Job(**options)
    assert said in str(refused.value)


def test_an_option_of_another_type_is_a_type_error():
    with pytest.raises(TypeError, match="iodepth: a string, a number or a bool is needed"):
        seekwell.Job(iodepth=[1, 2])


@pytest.mark.parametrize("target", ["/dev/sda", "null", ".", "/", "some/file", "/dev/null"])
def test_whatever_is_no_model_is_refused(target):
    with pytest.raises(ValueError, match="a modelled machine is needed"):
        seekwell.Machine.load(target)


def test_a_machine_that_is_not_there_is_named_with_the_nearest(tmp_path):
    with pytest.raises(ValueError, match="did you mean sata-7200\\?"):
        seekwell.Machine.load("sata-7300")
    with pytest.raises(ValueError, match="there is no file"):
        seekwell.Machine.load(tmp_path / "mine.toml")


def test_a_digest_tells_machines_apart_by_what_they_do():
    plain = seekwell.Machine.load("sata-7200")
    without = seekwell.Machine.load("sata-7200", set={"controller.ncq": False})
    same = seekwell.Machine.load("sata-7200.toml")
    assert plain.digest == same.digest and plain == same
    assert plain.digest != without.digest and len(plain.digest) == 64


def test_machines_and_jobs_are_picklable():
    machine = seekwell.Machine.load("sata-7200", set={"controller.ncq": False})
    jobs = [
        seekwell.Job(rw="randwrite", direct=True, rate_iops=12.5),
        seekwell.Job.from_fio(FIO),
        seekwell.Job.from_trace(TRACE, mode="depth", fit="modulo"),
    ]
    for value in [machine, *jobs]:
        again = pickle.loads(pickle.dumps(value))
        assert again == value and hash(again) == hash(value) and repr(again) == repr(value)


def test_a_worker_with_another_description_refuses_the_machine(tmp_path):
    file = tmp_path / "mine.toml"
    shipped = (TOP / "machines" / "sata-7200.toml").read_text()
    file.write_text(shipped)
    pickled = pickle.dumps(seekwell.Machine.load(file))
    file.write_text((TOP / "machines" / "nvme-ssd.toml").read_text())
    with pytest.raises(ValueError, match="is not the machine it was"):
        pickle.loads(pickled)


def test_a_replaced_option_takes_the_place_of_the_old_one_under_any_name():
    job = seekwell.Job(iodepth=1, blocksize="8k")
    assert job.replace(bs="4k") == seekwell.Job(iodepth=1, bs="4k")
    with pytest.raises(ValueError, match="changed in its text"):
        seekwell.Job.from_fio(FIO).replace(iodepth=2)


def test_the_lock_of_the_interpreter_is_free_while_a_model_runs(machine):
    job = seekwell.Job(rw="randread", iodepth=32, runtime="10m")
    counted = 0
    worker = threading.Thread(target=seekwell.simulate, args=(machine, job))
    worker.start()
    while worker.is_alive() and counted < 1000:
        counted += 1
        time.sleep(0)
    assert counted == 1000
    worker.join()


def test_ctrl_c_ends_a_run():
    story = (
        "import seekwell, sys\n"
        "job = seekwell.Job(rw='randread', iodepth=32, runtime='600h')\n"
        "print('begun', flush=True)\n"
        "seekwell.simulate(seekwell.Machine.load('nvme-ssd'), job)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", story], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "begun\n"
    time.sleep(0.5)
    asked_at = time.monotonic()
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    assert time.monotonic() - asked_at < 30

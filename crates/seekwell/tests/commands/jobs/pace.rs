//! When jobs begin and end, and how fast they may be.

use super::{Desk, count, phase};
use crate::common::{LONG, seekwell, signal, wait_for, wait_for_threads};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn elapsed_s(document: &Value, name: &str) -> f64 {
    phase(document, name)["repeats"][0]["elapsed_ns"].as_u64().unwrap() as f64 / 1e9
}

#[test]
fn a_rate_bounds_requests_and_bytes_and_counts_from_when_they_were_due() {
    let Some(desk) = Desk::new() else { return };
    let jobs = "[iops]\nrate_iops=500\n[bytes]\nrate=4m\n\
                [poisson]\nrate_iops=500\nrate_process=poisson\n";
    // A busy disk does fewer requests than are due; the null target does all of them.
    for (engine, least) in [("io_uring", [1; 3]), ("null", [450, 3 << 20, 390])] {
        let document = desk.measured(&format!(
            "[global]\nsize=64m\nbs=4k\nrw=randread\nruntime=1s\ntime_based\ndirect=1\n\
             ioengine={engine}\n{jobs}"
        ));
        let (iops, poisson) =
            (count(&document, "iops", "read").0, count(&document, "poisson", "read").0);
        let bytes = count(&document, "bytes", "read").1;
        assert!((least[0]..=510).contains(&iops), "{engine}: {iops}");
        assert!((least[1]..=(4 << 20) + 16384).contains(&bytes), "{engine}: {bytes}");
        // 500 arrivals are expected, with a standard deviation of 22.
        assert!((least[2]..=610).contains(&poisson), "{engine}: {poisson}");
        let response = &phase(&document, "iops")["repeats"][0]["ops"]["read"]["response"];
        assert!(response["ns_mean"].as_f64() > Some(0.0), "{engine}: {response}");
    }
}

#[test]
fn a_job_below_its_least_rate_fails_and_says_so() {
    let Some(desk) = Desk::new() else { return };
    let ran = desk.bench(
        "[slow]\nsize=4m\nbs=4k\nrw=randread\nrate_iops_min=500000000\nrate_cycle=300\n\
         runtime=5s\ntime_based\n",
        &["--json", "--no-keep"],
    );
    assert_eq!(ran.status, 4, "{}", ran.err);
    let invalid = ran.json()["invalid"][0].as_str().unwrap().to_owned();
    assert!(invalid.contains("too slow") && invalid.contains("500000000"), "{invalid}");
}

#[test]
fn thinking_takes_its_time() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[t]\nsize=4m\nbs=4k\nrw=read\nthinktime=20ms\nthinktime_blocks=10\nruntime=1s\n\
         time_based\n",
    );
    let requests = count(&document, "t", "read").0;
    // Ten in each pause of 20 ms and more: 500 a second at most.
    assert!((200..=510).contains(&requests), "{requests}");
}

#[test]
fn a_ramp_comes_before_measuring_and_a_delay_before_the_job() {
    let Some(desk) = Desk::new() else { return };
    let begun = Instant::now();
    let document = desk.measured(
        "[r]\nsize=4m\nbs=4k\nrw=randread\nstartdelay=1\nramp_time=500ms\nruntime=600ms\n\
         time_based\n",
    );
    let (all, measured) = (begun.elapsed().as_secs_f64(), elapsed_s(&document, "r"));
    assert!(all >= 2.1 && all >= measured + 1.5, "{measured} of {all}");
    assert!((0.55..1.1).contains(&measured), "with the ramp it would be 1.1: {measured}");
}

#[test]
fn a_job_waits_for_the_one_it_names() {
    let Some(desk) = Desk::new() else { return };
    let begun = Instant::now();
    let document = desk.measured(
        "[global]\nsize=1m\nbs=4k\nrw=randread\nruntime=600ms\ntime_based\n\
         [first]\n[beside]\n[second]\nwait_for=first\n",
    );
    assert!(begun.elapsed() >= Duration::from_millis(1200));
    for name in ["first", "beside", "second"] {
        assert!(count(&document, name, "read").0 > 0, "{name}");
    }
}

#[test]
fn the_end_of_one_job_ends_the_others_where_it_says_so() {
    let Some(desk) = Desk::new() else { return };
    let begun = Instant::now();
    let document = desk.measured(
        "[global]\nsize=1m\nbs=4k\nrw=randread\ntime_based\n\
         [short]\nruntime=600ms\nexitall\n[long]\nruntime=60s\n",
    );
    assert!(begun.elapsed() < LONG);
    let elapsed = elapsed_s(&document, "long");
    assert!((0.5..LONG.as_secs_f64()).contains(&elapsed), "{elapsed}");
}

#[test]
fn jobs_of_a_flow_share_in_proportion() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nsize=1m\nbs=4k\nrw=randread\nruntime=2s\ntime_based\nflow_id=1\n\
         [eight]\nflow=8\n[one]\nflow=1\n",
    );
    let ratio =
        count(&document, "eight", "read").0 as f64 / count(&document, "one", "read").0 as f64;
    // Beside other work one of them ends sooner, and the other goes on alone. Without a flow both
    // would do as much.
    assert!((2.5..9.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_latency_target_finds_a_depth() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[l]\nsize=16m\nbs=4k\nrw=randread\nioengine=libaio\niodepth=8\nlatency_target=5s\n\
         latency_window=100ms\nlatency_percentile=90\nruntime=5s\ntime_based\n",
    );
    let depth = &phase(&document, "l")["repeats"][0]["values"]["latency_target_depth_requests"];
    assert_eq!(depth.as_f64(), Some(8.0), "nothing takes five seconds");
}

#[test]
fn a_request_longer_than_allowed_ends_its_job_and_no_other() {
    let Some(desk) = Desk::new() else { return };
    let document = desk
        .bench(
            "[e]\nsize=4m\nbs=1m\nrw=read\nmax_latency=1us\n[ok]\nstonewall\nsize=1m\nrw=read\n",
            &["--json", "--no-keep"],
        )
        .ends(4)
        .json();
    assert!(document["invalid"][0].as_str().unwrap().contains("max_latency"), "{document}");
    assert_eq!(count(&document, "ok", "read").1, 1 << 20, "the next stage is run all the same");
}

#[test]
fn a_signal_ends_all_jobs_and_leaves_nothing() {
    let Some(desk) = Desk::new() else { return };
    let file = desk.file(
        "[global]\nsize=8m\nbs=4k\nruntime=60s\ntime_based\ncomm=storage\n\
         [a]\nrw=randwrite\n[b]\nrw=randread\n[later]\nstonewall\nrw=read\n",
    );
    let mut command = seekwell(desk.runs.path());
    command.current_dir(desk.dir()).arg("bench").arg(&file).args(["--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_threads(&child, "storage", 2);
    // Requests are outstanding by then, unless the machine is busy; it ends the same way.
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "INT");
    let document = super::common::done(child.wait_with_output().unwrap()).ends(130).json();
    assert_eq!(document["status"], "interrupted");
    assert!(phase(&document, "later")["skipped"].as_str().unwrap().contains("interrupted"));
    wait_for("the folder to be empty", || super::common::names(desk.dir()).is_empty());
}

#[test]
fn what_a_ramp_of_bytes_transfers_is_not_measured() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nsize=4m\nbs=4k\nrw=randread\n[ramp]\nramp_size=1m\n\
         [both]\nstonewall\nnumjobs=2\ngroup_reporting\nramp_size=2m\nramp_time=1m\n",
    );
    let alone = count(&document, "ramp", "read").0;
    assert!((1023..=1025).contains(&alone), "{alone}");
    let both = count(&document, "both", "read").0;
    assert!((2040..=2052).contains(&both), "{both}");
}

#[test]
fn thinkcycles_burn_time_after_each_request() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nsize=4m\nbs=4k\nrw=read\nnumber_ios=20\n[plain]\n\
         [busy]\nstonewall\nthinkcycles=10000000\n",
    );
    let (plain, busy) = (elapsed_s(&document, "plain"), elapsed_s(&document, "busy"));
    // Ten million turns take two milliseconds at the very least.
    assert!(busy > plain && busy > 20.0 * 0.002, "{busy} s after {plain} s");
}

#[test]
fn threads_bear_the_name_that_comm_gives_them() {
    let Some(desk) = Desk::new() else { return };
    let text = "[n]\ncomm=storage-thread-7\nsize=4m\nrw=read\nruntime=20s\ntime_based\n\
                rate_iops=50\nend_syncfs=1\n";
    let file = desk.file(text);
    let mut command = seekwell(desk.runs.path());
    command.current_dir(desk.dir()).arg("bench").arg(file).arg("--no-keep");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_threads(&child, "storage-thread-", 1);
    signal(&child, "INT");
    child.wait().unwrap();
}

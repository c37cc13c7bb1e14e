//! Comparisons and an experiment, made up but judged by the program's own method.

use seekwell_compare::sources::contents;
use seekwell_compare::{Claim, Comparison, Options, SetupDifference, Side, compare};
use seekwell_experiment::{ArmSpec, Design, Document, Run, Status, conclude};
use seekwell_io::units::Nanos;
use seekwell_runs::Tool;
use seekwell_stats::{Arm, Margin};
use std::collections::BTreeMap;

pub const PIIX: &str = "1.96,1.96,kvm,1,1252886317,4G,,439,99,52686,15,27168,5,2039,99,62782,4,\
228.9,3,384,,,,,17299,43,379058,99,777,1,24781,49,522877,100,579,1,48125us,1645ms,1545ms,16144us,\
137ms,863ms,1773ms,169us,18519ms,1403ms,14us,14935ms";
pub const AHCI: &str = "1.96,1.96,kvm,1,1252887577,4G,,430,98,52639,14,27533,5,2066,99,62991,4,\
224.5,1,384,,,,,28173,56,373407,98,1645,2,31110,61,522376,99,1026,1,50870us,1532ms,1655ms,\
10203us,21423us,953ms,1363ms,157us,12877ms,1216ms,61us,11397ms";
/// What a name could hold to break out of a page.
pub const HOSTILE: &str = "<script>alert(1)</script></template><img src=x>\u{202e}";

pub fn side(name: &str, texts: &[String]) -> Side {
    let mut found = texts.iter().map(|t| contents(t.as_bytes(), name).expect("a source"));
    let first = found.next().expect("a text");
    let (_, mut runs) = first.configurations.into_iter().next().expect("a configuration");
    runs.extend(found.flat_map(|c| c.configurations).flat_map(|(_, runs)| runs));
    Side { name: name.into(), source: first.kind, runs }
}

fn difference(what: &str, a: &str, b: &str, matters: bool) -> SetupDifference {
    let (a, b) = (Some(a.to_owned()), Some(b.to_owned()));
    SetupDifference { what: what.into(), device: Some("sda".into()), a, b, matters }
}

/// The two published lines, one run each, with what differed.
pub fn published() -> Comparison {
    let sides = [side("piix", &[PIIX.to_owned()]), side("ahci", &[AHCI.to_owned()])];
    let mut found = compare(&sides, &Options::default()).expect("a comparison");
    found.against[0].setup_known = true;
    found.against[0].setup = vec![
        difference("driver", "ata_piix", "ahci", true),
        difference("interrupt", "IRQ 14, shared", "MSI", true),
        difference("queue depth", "1", "31", true),
        difference("kernel", "6.18.1", "6.18.2", false),
    ];
    found
}

/// Runs of fio with these rates, each its own file.
pub fn fio(name: &str, engine: &str, depth: u32, iops: &[f64]) -> Side {
    let text = |iops: &f64| {
        let (bytes, mean, p99) = (iops * 4096.0, 1e9 / iops, 2e9 / iops);
        format!(
            r#"{{"fio version":"fio-3.33","jobs":[{{"jobname":"rr","error":0,
            "job options":{{"rw":"randread","iodepth":"{depth}","ioengine":"{engine}"}},
            "read":{{"iops":{iops},"bw_bytes":{bytes},"runtime":1000,"total_ios":1000,
            "clat_ns":{{"mean":{mean},"max":1e9,"N":1000,
            "percentile":{{"99.000000":{p99}}}}}}}}}]}}"#
        )
    };
    side(name, &iops.iter().map(text).collect::<Vec<_>>())
}

/// Six runs of each of two sides, the second named by somebody with bad intentions.
pub fn several() -> Comparison {
    let a = fio("before", "libaio", 1, &[1000.0, 1010.0, 990.0, 1005.0, 995.0, 1002.0]);
    let b = fio(HOSTILE, "libaio", 1, &[1100.0, 1111.0, 1089.0, 1105.0, 1095.0, 1102.0]);
    let expect = Some(Claim::Faster);
    let options = Options { expect, ..Options::default() };
    let mut found = compare(&[a, b], &options).expect("a comparison");
    found.against[0].setup_known = true;
    found.against[0].setup = vec![difference("model", HOSTILE, "Example NV-1000", true)];
    found
}

/// Twelve blocks in which B is `effect` times as fast as A, on a machine that slows down.
pub fn experiment(effect: f64, target: &str) -> Document {
    let design = Design {
        blocks: Some(12),
        settle_ns: Nanos::from_millis(500),
        ..Design::new("read.requests_per_s".to_owned(), Some(Margin::THROUGHPUT), 7)
    };
    let a = ArmSpec::new(Default::default());
    let mut b = a.clone();
    b.job.iodepth = 32;
    let runs = (0..48).map(|i| run(&design, i, effect)).collect();
    let tool = Tool { version: "0.1.0".into(), git_commit: None };
    let mut document = Document {
        id: "20261120-231502-experiment-5f3a".into(),
        status: Status::Complete,
        started_at: "2026-11-20T23:15:02Z".into(),
        ended_at: Some("2026-11-20T23:25:02Z".into()),
        command: vec!["seekwell".into(), "experiment".into(), "--on".into(), target.into()],
        identity: "serial S1".into(),
        expect: Some(seekwell_experiment::Claim::Faster),
        planned_blocks: Some(12),
        runs,
        ..Document::new(tool, target.into(), design, a, b)
    };
    document.conclusion = Some(conclude(&document));
    document
}

fn run(design: &Design, index: u32, effect: f64) -> Run {
    let slot = design.slot(index);
    // A little noise, the same each time, and a drift of a tenth over the whole.
    let noise = 1.0 + 0.004 * f64::from((index * 7919 + 13) % 17) / 17.0;
    let drift = 1.0 - 0.1 * f64::from(index) / 48.0;
    let rate = 12_000.0 * noise * drift * if slot.arm == Arm::B { effect } else { 1.0 };
    let values = BTreeMap::from([
        ("read.requests_per_s".to_owned(), rate),
        ("read.latency_ns_p99".to_owned(), 2e9 / rate),
    ]);
    Run {
        index,
        block: slot.block,
        position: slot.position,
        arm: slot.arm,
        seed: slot.seed,
        session: 0,
        started_at: format!("2026-11-20T23:{:02}:{:02}Z", 15 + index / 6, index % 6 * 10),
        elapsed_ns: Nanos::from_millis(5000),
        applied: Vec::new(),
        values,
        course: Vec::new(),
        condition: seekwell_experiment::Condition::default(),
        limit: None,
        failed: 0,
        invalid: None,
    }
}

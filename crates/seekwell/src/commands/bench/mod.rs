//! `seekwell bench`: one workload, with fio's option names.

use super::show;
use crate::Ended;
use crate::cli::Bench;
use crate::commands::experiment::arms::options;
use crate::context::Context;
use crate::medium::{Wanted, prepare};
use crate::session::{Purpose, Session};
use crate::target::look;
use seekwell_checkup::{Group, PhaseSpec, Plan};
use seekwell_experiment::{Options, Rw};
use seekwell_io::units::Nanos;
use seekwell_runs::Kind;
use std::path::Path;

const GIB: u64 = 1 << 30;

pub fn run(args: &Bench, context: &Context) -> Ended {
    let on = args.on.as_deref().unwrap_or(Path::new("."));
    if let Some(suite) = &args.suite {
        return crate::commands::suite::run(suite, args, context);
    }
    let inspection = look(&context.view, on)?;
    let purpose = Purpose {
        kind: Kind::Bench,
        label: args.label.clone(),
        keep: !args.no_keep,
        engine: args.workload.engine,
    };
    // Checked before anything is laid out, with a region that any request fits in.
    let options = options(&args.workload);
    options.workload(u64::from(options.block_bytes), true, args.seed).check()?;
    let mut session = Session::begin(context, purpose, inspection.clone())?;
    let wanted = Wanted {
        inspection: &inspection,
        size_bytes: args.workload.size,
        default_bytes: GIB,
        destroy: args.destroy.destroy.as_deref(),
        writes: options.writes(),
        set: &args.set,
    };
    let ready = prepare(&wanted, context, &session.line)?;
    let room = ready.inputs.region_bytes.saturating_sub(options.offset_bytes);
    let workload = options.workload(room, ready.inputs.direct, args.seed);
    workload.check()?;
    let (name, title) = (name(&options), title(&options));
    let spec = PhaseSpec::new(name, title, Group::Custom, workload, args.repeats);
    let plan = Plan::of(vec![spec], Nanos::from_millis(0));
    session.measure(&plan, ready, options.tags(), args.workload.size);
    show(context, &session.end(), None)
}

fn name(options: &Options) -> String {
    let tags = options.tags().map(|(policy, tags)| format!("-{}-{tags}", policy.name()));
    let (rw, bytes, depth) = (options.rw.name(), options.block_bytes, options.iodepth);
    format!("{rw}-{bytes}-d{depth}{}", tags.unwrap_or_default())
}

fn title(options: &Options) -> String {
    let mixed = options.mix_read_percent;
    let what = match options.rw {
        Rw::Read => "sequential read".to_owned(),
        Rw::Write => "sequential write".to_owned(),
        Rw::RandRead => "random read".to_owned(),
        Rw::RandWrite => "random write".to_owned(),
        Rw::ReadWrite => format!("sequential mix, {mixed} % reads,"),
        Rw::RandRw => format!("random mix, {mixed} % reads,"),
    };
    let size = match options.block_bytes {
        b if b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
        b if b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    };
    let threads = match options.numjobs {
        1 => String::new(),
        jobs => format!(", {jobs} threads"),
    };
    let tags = match options.tags() {
        None => String::new(),
        Some((policy, tags)) => format!(", {tags} tags {}", policy.name()),
    };
    format!("{what} {size}, depth {}{threads}{tags}", options.iodepth)
}

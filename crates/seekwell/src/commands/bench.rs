//! `seekwell bench`: one workload, with fio's option names.

use super::show;
use crate::Ended;
use crate::cli::{Bench, RateProcess, Rw};
use crate::context::Context;
use crate::medium::{Wanted, prepare};
use crate::session::{Purpose, Session};
use seekwell_checkup::{Group, PhaseSpec, Plan};
use seekwell_inspect::{Inspection, Target, inspect};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pace, Pattern, SizeShare, Workload};
use seekwell_runs::Kind;
use std::path::Path;

const GIB: u64 = 1 << 30;

pub fn run(args: &Bench, context: &Context) -> Ended {
    let inspection = if args.on == Path::new("null") {
        Inspection::null()
    } else {
        inspect(&context.view, &Target::resolve(&context.view, &args.on)?)
    };
    let purpose = Purpose {
        kind: Kind::Bench,
        label: args.label.clone(),
        keep: !args.no_keep,
        engine: args.engine,
    };
    // Checked before anything is laid out, with a region that any request fits in.
    workload(args, u64::from(args.bs)).check()?;
    let mut session = Session::begin(context, purpose, inspection.clone())?;
    let wanted = Wanted {
        inspection: &inspection,
        size_bytes: args.size,
        default_bytes: GIB,
        destroy: args.destroy.destroy.as_deref(),
        writes: writes(args),
    };
    let ready = prepare(&wanted, context, &session.line)?;
    let room = ready.inputs.region_bytes.saturating_sub(args.offset);
    let mut workload = workload(args, room);
    workload.direct &= ready.inputs.direct;
    workload.check()?;
    let (name, title) = (name(args), title(args));
    let spec = PhaseSpec::new(name, title, Group::Custom, workload, args.repeats);
    let plan = Plan::of(vec![spec], Nanos::from_millis(0));
    session.measure(&plan, ready, args.tags, args.size);
    show(context, &session.end(), None)
}

fn writes(args: &Bench) -> bool {
    match args.rw {
        Rw::Read | Rw::RandRead => false,
        Rw::Write | Rw::RandWrite => true,
        Rw::ReadWrite | Rw::RandRw => args.rwmixread < 100,
    }
}

fn read_percent(args: &Bench) -> u8 {
    match args.rw {
        Rw::Read | Rw::RandRead => 100,
        Rw::Write | Rw::RandWrite => 0,
        Rw::ReadWrite | Rw::RandRw => args.rwmixread,
    }
}

fn workload(args: &Bench, region_bytes: u64) -> Workload {
    let depth = args.iodepth;
    Workload {
        pattern: match args.rw {
            Rw::Read | Rw::Write | Rw::ReadWrite => Pattern::Sequential,
            Rw::RandRead | Rw::RandWrite | Rw::RandRw => args.random_distribution,
        },
        read_percent: read_percent(args),
        sizes: vec![SizeShare { bytes: args.bs, weight: 1 }],
        align_bytes: 0,
        pace: match args.rate_iops {
            None => Pace::Closed { depth },
            Some(requests_per_s) => {
                let poisson = args.rate_process == RateProcess::Poisson;
                Pace::Open { requests_per_s, poisson, depth }
            }
        },
        flush_every: args.fsync,
        offset_bytes: args.offset,
        region_bytes,
        threads: args.numjobs,
        direct: args.direct == 1,
        runtime_ns: args.runtime,
        ramp_ns: args.ramp_time,
        requests: 0,
        seed: args.seed,
    }
}

fn rw_name(rw: Rw) -> &'static str {
    match rw {
        Rw::Read => "read",
        Rw::Write => "write",
        Rw::RandRead => "randread",
        Rw::RandWrite => "randwrite",
        Rw::ReadWrite => "rw",
        Rw::RandRw => "randrw",
    }
}

fn name(args: &Bench) -> String {
    format!("{}-{}-d{}", rw_name(args.rw), args.bs, args.iodepth)
}

fn title(args: &Bench) -> String {
    let what = match args.rw {
        Rw::Read => "sequential read".to_owned(),
        Rw::Write => "sequential write".to_owned(),
        Rw::RandRead => "random read".to_owned(),
        Rw::RandWrite => "random write".to_owned(),
        Rw::ReadWrite => format!("sequential mix, {} % reads,", args.rwmixread),
        Rw::RandRw => format!("random mix, {} % reads,", args.rwmixread),
    };
    let size = match args.bs {
        b if b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
        b if b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    };
    let threads =
        if args.numjobs > 1 { format!(", {} threads", args.numjobs) } else { String::new() };
    format!("{what} {size}, depth {}{threads}", args.iodepth)
}

//! Prints the simulation tables of `docs/statistics.md`:
//! `cargo run -p seekwell-stats --release --example simulate [REPEATS]`.
#![allow(clippy::print_stdout)]

mod model;

use model::{Disk, Noise, values};
use seekwell_stats::{Arm, ChangeRule, Gate, Margin, change_points, gates};

const A_A: [(Noise, &str); 4] = [
    (Noise::Calm, "no drift"),
    (Noise::Drift, "drift -0.2 % a run"),
    (Noise::Wander, "AR(0.9), steps of 1 %"),
    (Noise::Periodic, "every 4th run -10 %"),
];
const SHAPES: [(Noise, &str); 4] = [
    (Noise::Calm, "normal"),
    (Noise::Heavy, "t3 (heavy tails)"),
    (Noise::Bursts, "1 run of 10 -10 %"),
    (Noise::BurstsInB, "the same in B only"),
];

fn main() {
    let repeats = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let error = (0.05_f64 * 0.95 / f64::from(repeats)).sqrt() * 100.0;
    println!("{repeats} repeats of each; standard error of a 5 % share: {error:.2} points\n");
    a_a(repeats);
    intervals(repeats);
    planned(repeats);
    closed(repeats);
    history(repeats / 10);
}

fn a_a(repeats: u32) {
    println!("A/A comparisons called different, per cent (nominal 5)\n");
    println!("| design | blocks | {} |", A_A.map(|(_, name)| name).join(" | "));
    println!("|---|---|---|---|---|---|");
    let row = |design: &str, blocks: &str, rate: &dyn Fn(Noise) -> f64| {
        let rates = A_A.map(|(noise, _)| format!("{:.1}", rate(noise)));
        println!("| {design} | {blocks} | {} |", rates.join(" | "));
    };
    for blocks in [8, 10, 12, 20, 40] {
        row("ABBA/BAAB by coin", &blocks.to_string(), &|noise| {
            model::false_alarms(noise, blocks, repeats)
        });
    }
    row("ABBA/BAAB by coin, two stages", "10…40", &|noise| {
        model::two_stage(noise, 0.0, repeats).claimed
    });
    row("ABBA always", "12", &|noise| model::false_alarms_fixed_order(noise, 12, repeats));
    row("all of A, then all of B", "10", &|noise| {
        model::false_alarms_one_after_the_other(noise, 10, repeats)
    });
    row("by coin, a look at every block (a tenth of the repeats)", "8…40", &|noise| {
        model::false_alarms_peeking(noise, repeats / 10)
    });
}

fn intervals(repeats: u32) {
    println!("\nCoverage of the 95 % interval, per cent: signed-rank / t (share marked skewed)\n");
    let sizes = [6, 8, 10, 14, 20];
    println!("| noise | {} |", sizes.map(|n| format!("n = {n}")).join(" | "));
    println!("|---|---|---|---|---|---|");
    for (noise, name) in SHAPES {
        let centre = match noise {
            Noise::BurstsInB => model::true_centre(noise, 0.01, 1_000_000),
            _ => 0.01,
        };
        let cells = sizes.map(|n| {
            let c = model::coverage(noise, 0.01, centre, n, repeats);
            format!("{:.1} / {:.1} ({:.1})", c.ranks, c.normal, c.skewed)
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn planned(repeats: u32) {
    println!("\nTwo stages, margin ±2 %, no drift: verdicts by the true difference\n");
    println!("| true difference | faster or slower | no difference | undecided | blocks |");
    println!("|---|---|---|---|---|");
    for percent in [0.0, 0.5, 1.0, 2.0, 3.0, 5.0] {
        let two = model::two_stage(Noise::Calm, f64::ln_1p(percent / 100.0), repeats);
        let undecided = 100.0 - two.claimed - two.equivalent;
        println!(
            "| {percent} % | {:.1} | {:.1} | {undecided:.1} | {:.1} |",
            two.claimed, two.equivalent, two.blocks
        );
    }
}

fn closed(repeats: u32) {
    println!("\nGates closed on A/A comparisons of 12 blocks, per cent\n");
    println!("| noise | trend | autocorrelation | carry-over |");
    println!("|---|---|---|---|");
    for (noise, name) in A_A {
        let mut counts = [0_u32; 3];
        for i in 0..u64::from(repeats) {
            for gate in gates(&Disk::new(noise, 0.0, i).blocks(!i, 12), Margin::THROUGHPUT) {
                match gate {
                    Gate::Trend(_) => counts[0] += 1,
                    Gate::Autocorrelated { .. } => counts[1] += 1,
                    Gate::CarryOver(_) => counts[2] += 1,
                    _ => {}
                }
            }
        }
        let shares = counts.map(|n| format!("{:.1}", f64::from(n) / f64::from(repeats) * 100.0));
        println!("| {name} | {} |", shares.join(" | "));
    }
    let drifting = model::share(repeats, |i| {
        let mut d = values(&Disk::new(Noise::Calm, 0.0, i).blocks(!i, 12));
        d.iter_mut().zip(0..).for_each(|(d, block)| *d += 0.005 * f64::from(block));
        seekwell_stats::trend(&d).is_some_and(|trend| trend.p < 0.01)
    });
    println!("\nA difference that moves by 0.5 % a block closes the trend gate: {drifting:.1} %");
}

fn history(repeats: u32) {
    println!(
        "\nHistories of 100 runs, a step at run 60: found within two runs, and found wrongly\n"
    );
    println!("| step | found | any other change point |");
    println!("|---|---|---|");
    let any = |magnitude: f64| {
        model::share(repeats, |i| {
            let mut disk = Disk::new(Noise::Calm, 0.0, i);
            let series: Vec<f64> = (0..100).map(|_| disk.run(Arm::A)).collect();
            let rule = ChangeRule { magnitude, ..ChangeRule::default() };
            !change_points(&series, rule).is_empty()
        })
    };
    println!("| none | | {:.1} % |", any(0.05));
    println!("| none, and no least change demanded | | {:.1} % |", any(0.0));
    for percent in [3.0, 5.0, 7.0, 10.0] {
        let (mut found, mut wrong) = (0_u32, 0_u32);
        for i in 0..u64::from(repeats) {
            let mut disk = Disk::new(Noise::Calm, 0.0, i);
            let after = 1.0 - percent / 100.0;
            let level = |run| if run < 60 { 1.0 } else { after };
            let series: Vec<f64> = (0..100).map(|run| disk.run(Arm::A) * level(run)).collect();
            let points = change_points(&series, ChangeRule::default());
            let near = |index: usize| index.abs_diff(60) <= 2;
            found += u32::from(points.iter().any(|point| near(point.index)));
            wrong += u32::from(points.iter().any(|point| !near(point.index)));
        }
        let each = |count: u32| f64::from(count) / f64::from(repeats) * 100.0;
        println!("| -{percent} % | {:.1} % | {:.1} % |", each(found), each(wrong));
    }
}

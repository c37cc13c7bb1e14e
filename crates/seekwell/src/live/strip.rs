//! Latency over time as a strip of shaded cells: a column a second, a row for each third of a
//! decade or so.

use seekwell_io::histogram::Histogram;
use seekwell_io::units::{Nanos, round_time};
use std::collections::VecDeque;

/// Bounds of the rows: 1 and 3 times each power of ten from 1 ns to 300 s.
const BANDS: usize = 24;
/// Columns that are kept; no terminal shows more.
const KEPT: usize = 512;
/// Columns of a row's name and border.
const MARGIN: usize = 10;
/// What a share of a second's requests looks like, on a log scale: `(below, glyph)`.
const SHADES: [(f64, char); 5] =
    [(0.001, '·'), (0.01, '░'), (0.1, '▒'), (0.5, '▓'), (f64::INFINITY, '█')];

const fn bound(band: usize) -> u64 {
    10_u64.pow(band as u32 / 2) * if band.is_multiple_of(2) { 1 } else { 3 }
}

fn band_of(ns: u64) -> usize {
    (1..BANDS).take_while(|band| bound(*band) <= ns).last().unwrap_or(0)
}

/// The seconds seen so far.
#[derive(Debug, Default)]
pub struct Strip {
    /// Shares of each band.
    columns: VecDeque<[f64; BANDS]>,
}

impl Strip {
    /// Adds what completed in a second.
    pub fn push(&mut self, latencies: &Histogram) {
        let mut column = [0.0; BANDS];
        let all = latencies.count().max(1) as f64;
        for (bin, n) in latencies.sparse() {
            column[band_of(Histogram::middle_of(bin as usize))] += n as f64 / all;
        }
        if self.columns.len() == KEPT {
            self.columns.pop_front();
        }
        self.columns.push_back(column);
    }

    /// At most `rows` lines of at most `width` columns, the slowest requests on top, and a line
    /// that says what the shades mean. Where latencies span more, the lowest row holds all below.
    /// No lines if nothing was seen.
    pub fn lines(&self, width: usize, rows: usize) -> Vec<String> {
        let room = width.saturating_sub(MARGIN);
        let shown = self.columns.len().min(room);
        let columns: Vec<_> = self.columns.iter().skip(self.columns.len() - shown).collect();
        let used = |band: &usize| columns.iter().any(|column| column[*band] > 0.0);
        let (Some(lowest), Some(top)) = ((0..BANDS).find(used), (0..BANDS).rfind(used)) else {
            return Vec::new();
        };
        let bottom = lowest.max((top + 1).saturating_sub(rows));
        let row = |band: usize| {
            let below = band == bottom && lowest < bottom;
            let name = match below {
                true => format!("<{}", round_time(bound(band + 1))),
                false => round_time(bound(band)),
            };
            let share = |column: &&[f64; BANDS]| match below {
                true => column[..=band].iter().sum(),
                false => column[band],
            };
            let cells: String = columns.iter().map(|column| shade(share(column))).collect();
            let line = format!("{name:>8} │{cells}");
            line.trim_end().to_owned()
        };
        let mut lines: Vec<String> = (bottom..=top).rev().map(row).collect();
        let legend = "         └ a column a second; · <0.1 % ░ <1 % ▒ <10 % ▓ <50 % █ of requests";
        lines.push(legend.chars().take(width).collect());
        lines
    }
}

fn shade(share: f64) -> char {
    if share <= 0.0 {
        return ' ';
    }
    SHADES.iter().find(|(below, _)| share < *below).map_or('█', |(_, glyph)| *glyph)
}

/// The 99th percentile of a second, where it had requests enough.
pub fn p99(latencies: &Histogram) -> Option<Nanos> {
    latencies.quantile(0.99)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn second(parts: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        parts.iter().for_each(|(ns, n)| histogram.record_many(Nanos(*ns), *n));
        histogram
    }

    #[test]
    fn the_tail_of_a_second_is_a_light_cell_above_a_dark_one() {
        let mut strip = Strip::default();
        strip.push(&second(&[(150_000, 99_950), (5_000_000, 50)]));
        strip.push(&second(&[(150_000, 60), (400_000, 40)]));
        let lines = strip.lines(80, 8);
        assert_eq!(lines[0], "    3 ms │·");
        assert_eq!(lines[1], "    1 ms │");
        assert_eq!(lines[2], "  300 µs │ ▓");
        assert_eq!(lines[3], "  100 µs │██");
        assert_eq!(lines.len(), 5);
        assert!(lines[4].contains("a column a second"), "{lines:?}");
    }

    #[test]
    fn what_is_faster_than_the_rows_reach_is_gathered_in_the_lowest() {
        let mut strip = Strip::default();
        strip.push(&second(&[(1_500, 10), (40_000_000, 10)]));
        let lines = strip.lines(80, 3);
        assert_eq!(lines[..3], ["   30 ms │█", "   10 ms │", "  <10 ms │█"]);
    }

    #[test]
    fn the_last_seconds_are_shown_where_not_all_fit() {
        let mut strip = Strip::default();
        (0..60).for_each(|_| strip.push(&second(&[(150, 1)])));
        strip.push(&second(&[(400, 1)]));
        let lines = strip.lines(20, 4);
        assert_eq!(lines[0].chars().count(), 20);
        assert!(lines[0].ends_with('█'), "{lines:?}");
        assert!(Strip::default().lines(80, 4).is_empty());
    }

    proptest! {
        #[test]
        fn no_latencies_make_a_line_too_wide_or_a_strip_too_high(
            seconds in prop::collection::vec(prop::collection::vec(0u64..1 << 40, 0..5), 0..90),
            width in 0usize..120, rows in 1usize..9,
        ) {
            let mut strip = Strip::default();
            for values in seconds {
                let parts: Vec<_> = values.into_iter().map(|ns| (ns, 1)).collect();
                strip.push(&second(&parts));
            }
            let lines = strip.lines(width, rows);
            prop_assert!(lines.len() <= rows + 1);
            prop_assert!(lines.iter().all(|l| l.chars().count() <= width.max(MARGIN)), "{lines:?}");
        }
    }
}

//! The picture archive and the server that serves it.
//!
//! Sizes follow two bell curves in the logarithm: small previews (median 4 KiB, three of five) and
//! pictures (median 55 KiB). Which is asked for follows three lists of weights, one for each part
//! of its name, so that some are asked for much more often than others. About one request in fifty
//! is for a picture that does not exist and goes to the error log.

use super::apache::Apache;
use super::place::TestBed;
use crate::Failure;
use crate::bench::Dice;
use std::f64::consts::TAU;
use std::fs;
use std::path::Path;

/// Bytes of the document's archive.
pub const ARCHIVE: u64 = 2_500_000_000;
/// Bytes of it in memory when tracing began.
pub const WARM: u64 = 1_600_000_000;

const FOLDERS: u32 = 25;
/// mod_rewrite reads no further in a line of a map.
const LINE: usize = 1000;
const LARGEST: f64 = 1e6;

/// Bytes of a picture.
fn size(dice: &mut Dice) -> usize {
    let (median, sigma) = if dice.uniform() < 0.6 { (4096.0, 0.5) } else { (56_320.0, 0.8) };
    let bell = (-2.0 * dice.uniform().ln()).sqrt() * (TAU * dice.uniform()).cos();
    f64::min(median * (sigma * bell).exp(), LARGEST) as usize
}

/// Writes pictures below `root` until there are `bytes` of them, and the lists they are picked
/// from into `aside`. Returns how many there are.
///
/// Folders are filled in turn, as an archive grows: what was uploaded together lies together.
pub fn fill(root: &Path, aside: &Path, bytes: u64) -> Result<u32, Failure> {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for folder in 0..FOLDERS * FOLDERS {
        let name = format!("pictures/{}/{}", folder % FOLDERS, folder / FOLDERS);
        fs::create_dir_all(root.join(name))?;
    }
    let (mut written, mut number, mut data) = (0, 0_u32, Vec::new());
    while written < bytes {
        let size = size(&mut dice);
        data.clear();
        data.extend((0..size.div_ceil(8)).flat_map(|_| dice.next().to_le_bytes()));
        data.truncate(size);
        let (outer, rest) = (number % FOLDERS, number / FOLDERS);
        let (inner, file) = (rest % FOLDERS, rest / FOLDERS);
        fs::write(root.join(format!("pictures/{outer}/{inner}/{file}.jpg")), &data)?;
        written += size as u64;
        number += 1;
    }
    // Files that every folder has, and one that none has.
    let (files, none) = (number / (FOLDERS * FOLDERS), number.div_ceil(FOLDERS * FOLDERS));
    for (list, count, missing, fall) in [
        ("outer", FOLDERS, None, 0.5),
        ("inner", FOLDERS, None, 0.5),
        ("files", files.max(1), Some(none), 0.3),
    ] {
        fs::write(aside.join(format!("{list}.txt")), weighted(count, missing, fall, &mut dice))?;
    }
    Ok(number)
}

/// A line of Apache's `rnd:` map: each number as often as its weight, which falls with its rank;
/// ranks are shuffled, so that favourites do not lie together. A missing one comes beside them,
/// once in fifty.
fn weighted(count: u32, missing: Option<u32>, fall: f64, dice: &mut Dice) -> String {
    let mut numbers: Vec<u32> = (0..count).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, (dice.next() % (last as u64 + 1)) as usize);
    }
    let line = |most: u32| {
        let weight = |rank: usize| f64::from(most) / ((rank + 1) as f64).powf(fall);
        let times = |rank| weight(rank).round().max(1.0) as usize;
        let all = numbers.iter().enumerate();
        let mut words: Vec<_> =
            all.flat_map(|(rank, n)| vec![n.to_string(); times(rank)]).collect();
        if let Some(missing) = missing {
            words.extend(vec![missing.to_string(); (words.len() / 50).max(1)]);
        }
        format!("all {}\n", words.join("|"))
    };
    // The finest weights that there is room for.
    (1..=20).rev().map(line).find(|l| l.len() <= LINE).unwrap_or_else(|| line(1))
}

/// Starts the server: pictures at random under `/picture`; access, error and agent logs on the same
/// disk.
pub fn serve(place: &TestBed) -> Result<Apache, Failure> {
    let (root, aside) = (place.root(), place.aside());
    let logs = root.join("logs");
    fs::create_dir_all(&logs)?;
    let rest = format!(
        "DocumentRoot {root}\nErrorLog {logs}/error.log\nLogLevel info\n\
         LogFormat \"%h %l %u %t \\\"%r\\\" %>s %b %U\" common\n\
         CustomLog {logs}/access.log common\n\
         LogFormat \"%{{User-agent}}i\" agent\nCustomLog {logs}/agent.log agent\n\
         <Directory {root}/pictures>\nRequire all granted\n</Directory>\n\
         RewriteEngine On\nRewriteMap outer rnd:{aside}/outer.txt\n\
         RewriteMap inner rnd:{aside}/inner.txt\nRewriteMap files rnd:{aside}/files.txt\n\
         RewriteRule ^/picture$ \
         {root}/pictures/${{outer:all}}/${{inner:all}}/${{files:all}}.jpg [L]\n",
        root = root.display(),
        logs = logs.display(),
        aside = aside.display(),
    );
    Apache::start(&place.confine, aside, &["rewrite"], &rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_the_sizes_that_the_head_tells() {
        let mut dice = Dice(1);
        let mut sizes: Vec<usize> = (0..20_000).map(|_| size(&mut dice)).collect();
        sizes.sort_unstable();
        let below = |bytes| sizes.partition_point(|s| *s < bytes) as f64 / sizes.len() as f64;
        assert!((0.29..0.32).contains(&below(4096)), "{}", below(4096));
        assert!((0.78..0.82).contains(&below(56_320)), "{}", below(56_320));
    }

    #[test]
    fn every_number_is_in_a_list_and_the_first_most_often() {
        for count in [FOLDERS, 30, 120] {
            let line = weighted(count, None, 0.5, &mut Dice(7));
            let numbers: Vec<u32> = line
                .trim()
                .strip_prefix("all ")
                .unwrap()
                .split('|')
                .map(|n| n.parse().unwrap())
                .collect();
            let times = |n| numbers.iter().filter(|m| **m == n).count();
            let counts: Vec<usize> = (0..count).map(times).collect();
            assert!(counts.iter().all(|c| (1..=times(numbers[0])).contains(c)), "{counts:?}");
            let least = counts.iter().min().copied().unwrap_or(0);
            assert!(times(numbers[0]) > 4 * least, "{counts:?}");
        }
    }

    #[test]
    fn mod_rewrite_reads_the_lists_to_their_ends() {
        // A line of a map is cut at 1024 bytes without a word. Long lists made a part of the
        // archive unreachable, and it never came into the cache.
        for count in [FOLDERS, 30, 120, 200] {
            assert!(weighted(count, Some(count), 0.3, &mut Dice(7)).len() <= 1024, "{count}");
        }
    }

    #[test]
    fn one_in_fifty_is_not_there_however_few_there_are() {
        for count in [1, 4, 19, 80] {
            let line = weighted(count, Some(999), 0.3, &mut Dice(7));
            let words: Vec<&str> = line.trim().trim_start_matches("all ").split('|').collect();
            let missing = words.iter().filter(|word| **word == "999").count();
            let share = missing as f64 / words.len() as f64;
            assert!((0.005..0.05).contains(&share), "{count}: {share}");
        }
    }
}

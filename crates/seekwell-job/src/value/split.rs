//! Lists of sizes with shares: `bssplit` and zoned distributions.

use super::{Parsed, Reading, cells, number};
use crate::job::{BlockShare, By, Zone};

/// The most entries of one list; fio's own bound is 64 for sizes and 256 for zones.
const MOST: usize = 256;

/// `4k/60:64k/40`, for each kind of request. Sizes without a share divide what is left evenly; the
/// last of these takes what does not divide.
pub(crate) fn bssplit(text: &str, how: Reading) -> Parsed<By<Vec<BlockShare>>> {
    let cells = cells(text)?;
    let one = |cell: Option<&str>| cell.map_or(Ok(Vec::new()), |cell| shares(cell, how));
    Ok(By { read: one(cells.read)?, write: one(cells.write)?, trim: one(cells.trim)? })
}

fn shares(text: &str, how: Reading) -> Parsed<Vec<BlockShare>> {
    let needed = "sizes and percentages such as 4k/60:64k/40 that add up to 100";
    let mut sizes = Vec::new();
    for entry in text.split(':').filter(|entry| !entry.trim().is_empty()) {
        let (size, percent) = entry.split_once('/').unwrap_or((entry, ""));
        let bytes = u32::try_from(number(size, how)?).map_err(|_| needed)?;
        let percent = match percent.trim() {
            "" => None,
            p => Some(p.parse::<u8>().ok().filter(|&p| p <= 100).ok_or(needed)?),
        };
        if bytes == 0 || sizes.len() == MOST {
            return Err(needed);
        }
        sizes.push((bytes, percent));
    }
    let percent = divided(&sizes.iter().map(|s| s.1).collect::<Vec<_>>()).ok_or(needed)?;
    let share = |(&(bytes, _), percent): (&(u32, Option<u8>), u8)| BlockShare { bytes, percent };
    let shares: Vec<BlockShare> = sizes.iter().zip(percent).map(share).collect();
    Ok(shares.into_iter().filter(|share| share.percent > 0).collect())
}

/// Percentages with the missing ones filled in; `None` if they do not add up to 100.
fn divided(given: &[Option<u8>]) -> Option<Vec<u8>> {
    let sum: u32 = given.iter().flatten().map(|&p| u32::from(p)).sum();
    let missing = given.iter().filter(|p| p.is_none()).count() as u32;
    let left = 100_u32.checked_sub(sum)?;
    if given.is_empty() || (missing == 0 && left > 0) || (missing > 0 && left < missing) {
        return None;
    }
    let mut later = missing;
    let fill = |p: &Option<u8>| {
        p.unwrap_or_else(|| {
            later -= 1;
            let even = left / missing;
            (if later == 0 { left - even * (missing - 1) } else { even }) as u8
        })
    };
    Some(given.iter().map(fill).collect())
}

/// `60/10:40/90`: shares of requests and of the region, or with `absolute` of bytes.
pub(crate) fn zones(text: &str, absolute: bool, how: Reading) -> Parsed<By<Vec<Zone>>> {
    let cells = cells(text)?;
    let one = |cell: Option<&str>| match cell {
        Some(cell) => zones_of_one(cell, absolute, how),
        None => Ok(Vec::new()),
    };
    Ok(By { read: one(cells.read)?, write: one(cells.write)?, trim: one(cells.trim)? })
}

/// The zones for one kind of request.
fn zones_of_one(text: &str, absolute: bool, how: Reading) -> Parsed<Vec<Zone>> {
    let needed = "pairs such as 60/10:40/90, shares of the requests that add up to 100 and zones \
                  that do not exceed the region";
    let percent = |text: &str| text.trim().parse::<u8>().ok().filter(|&p| p <= 100).ok_or(needed);
    let mut zones = Vec::new();
    let mut without = Vec::new();
    for entry in text.split(':').filter(|entry| !entry.trim().is_empty()) {
        let (access, size) = entry.split_once('/').unwrap_or((entry, ""));
        let access_percent = percent(access)?;
        if zones.len() == MOST || (absolute && size.trim().is_empty()) {
            return Err(needed);
        }
        without.push((!size.trim().is_empty() && !absolute).then(|| percent(size)).transpose()?);
        let size_bytes = if absolute { number(size, how)? } else { 0 };
        zones.push(Zone { access_percent, size_percent: 0, size_bytes });
    }
    if zones.iter().map(|z| u32::from(z.access_percent)).sum::<u32>() != 100 {
        return Err(needed);
    }
    if !absolute {
        let given: u32 = without.iter().flatten().map(|&p| u32::from(p)).sum();
        let sizes = match divided(&without) {
            Some(sizes) => sizes,
            // fio lets zones end before the region does; the rest is never used.
            None if given <= 100 && !without.contains(&None) => {
                without.iter().map(|p| p.unwrap_or(0)).collect()
            }
            None => return Err(needed),
        };
        for (zone, percent) in zones.iter_mut().zip(sizes) {
            zone.size_percent = percent;
        }
    }
    Ok(zones)
}

//! What a ledger says, and what is made of a device that kept, lost, tore or mixed up its writes.

use super::check::Tally;
use super::file::{Ledger, LedgerError, LedgerWriter};
use super::plan::{Durable, Found, Plan, PlanError};
use super::{Checked, Fate};
use proptest::prelude::*;
use std::io::Read;

const SECTOR: usize = 512;

fn plan() -> Plan {
    Plan { id: 7, block_bytes: 4096, blocks: 64, batch: 4, durable: Durable::Flush }
}

fn ledger(acknowledged: u32) -> Ledger {
    let plan = plan();
    let acknowledgements = acknowledged / plan.batch;
    Ledger { device: "/dev/sdx".into(), plan, acknowledged, acknowledgements }
}

/// A device that keeps the writes of `kept`.
fn device(writes: u32, kept: impl Fn(u32) -> bool) -> Vec<Vec<u8>> {
    let plan = plan();
    let mut blocks = vec![vec![0; plan.block_bytes as usize]; plan.blocks as usize];
    for write in (1..=writes).filter(|write| kept(*write)) {
        plan.fill(write, &mut blocks[plan.block_of(write) as usize]);
    }
    blocks
}

fn checked(acknowledged: u32, device: &[Vec<u8>]) -> Checked {
    let mut tally = Tally::new(&ledger(acknowledged));
    for (block, data) in (0..).zip(device) {
        tally.block(block, Some(data));
    }
    tally.finish()
}

#[test]
fn the_writes_of_a_batch_go_to_different_blocks_and_reach_all_of_them() {
    let plan = plan();
    let mut reached = vec![false; plan.blocks as usize];
    for batch in 0..400 {
        let writes = (1..=plan.batch).map(|write| batch * plan.batch + write);
        let mut blocks: Vec<u32> = writes.map(|write| plan.block_of(write)).collect();
        blocks.iter().for_each(|block| reached[*block as usize] = true);
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), plan.batch as usize);
    }
    assert!(reached.iter().all(|reached| *reached));
}

#[test]
fn a_sector_is_known_by_its_write_and_only_as_a_whole() {
    let plan = plan();
    let mut block = vec![0; 4096];
    plan.fill(9, &mut block);
    let at = plan.block_of(9);
    assert!(block.chunks(SECTOR).all(seekwell_sys::mark::is_on));
    assert!(plan.found(at, &block).all(|found| found == Found::Write(9)));
    let elsewhere = (0..plan.blocks).find(|other| *other != at).unwrap();
    assert!(plan.found(elsewhere, &block).all(|found| found == Found::Damaged));
    let other = Plan { id: 8, ..plan };
    assert!(other.found(at, &block).all(|found| found == Found::Other));
    block[SECTOR + 300] ^= 1;
    let found: Vec<_> = plan.found(at, &block).take(3).collect();
    assert_eq!(found, [Found::Write(9), Found::Damaged, Found::Write(9)]);
}

#[test]
fn an_honest_device_kept_everything_whatever_was_under_way() {
    let after = checked(40, &device(40, |_| true));
    assert_eq!((after.lost(), after.reordered, after.torn_under_way), (0, 0, 0));
    let again = (1..=40).map(|write| plan().block_of(write));
    let blocks = again.collect::<std::collections::BTreeSet<_>>().len() as u64;
    assert_eq!(after.acknowledged_blocks, blocks);
    // Two of the next batch came through, one of them in part.
    let mut under_way = device(42, |_| true);
    let block = plan().block_of(43) as usize;
    let mut whole = vec![0; 4096];
    plan().fill(43, &mut whole);
    under_way[block][..SECTOR].copy_from_slice(&whole[..SECTOR]);
    under_way[block][SECTOR..2 * SECTOR - 1].copy_from_slice(&whole[SECTOR..2 * SECTOR - 1]);
    assert_eq!(checked(40, &under_way).lost(), 0);
}

#[test]
fn what_was_acknowledged_and_is_not_there_is_missing_and_out_of_order_if_later_writes_are() {
    // Write 40 is the last to its block.
    let missing = checked(40, &device(40, |write| write != 40));
    assert_eq!((missing.missing, missing.lost(), missing.reordered), (1, 1, 0));
    assert_eq!((missing.losses[0].write, missing.losses[0].fate), (40, Fate::Missing));
    let before = (1..40).rev().find(|write| plan().block_of(*write) == plan().block_of(40));
    assert_eq!(missing.losses[0].found, before);
    let earlier = (1..40).rev().find(|write| {
        let block = plan().block_of(*write);
        (write + 1..=44).all(|later| plan().block_of(later) != block)
    });
    let earlier = earlier.unwrap();
    let out_of_order = checked(40, &device(44, |write| write != earlier));
    assert_eq!((out_of_order.missing, out_of_order.reordered), (1, 1));
    let nothing = checked(40, &device(0, |_| true));
    assert_eq!(nothing.lost(), nothing.acknowledged_blocks);
    assert!(!nothing.found_any);
}

#[test]
fn a_block_of_two_writes_is_torn_and_one_of_none_is_damaged() {
    let block = plan().block_of(40) as usize;
    let mut torn = device(40, |write| write != 40);
    let whole = device(40, |_| true);
    torn[block][..SECTOR].copy_from_slice(&whole[block][..SECTOR]);
    let found = checked(40, &torn);
    assert_eq!((found.torn, found.lost(), found.losses[0].fate), (1, 1, Fate::Torn));
    let mut damaged = whole;
    damaged[block][SECTOR + 100] ^= 1;
    let found = checked(40, &damaged);
    assert_eq!((found.damaged, found.lost()), (1, 1));
    let mut tally = Tally::new(&ledger(40));
    tally.block(block as u32, None);
    assert_eq!(tally.finish().unreadable, 1);
}

/// A ledger as it is written, with these acknowledgements.
fn written(acknowledgements: &[u32]) -> Vec<u8> {
    let (mut read, write) = std::io::pipe().unwrap();
    let mut ledger = LedgerWriter::begin(write.into(), "/dev/sdx", &plan()).unwrap();
    acknowledgements.iter().for_each(|writes| ledger.acknowledged(*writes).unwrap());
    drop(ledger);
    let mut text = Vec::new();
    read.read_to_end(&mut text).unwrap();
    text
}

#[test]
fn a_ledger_is_read_as_it_was_written_and_may_end_anywhere() {
    let text = written(&[4, 8, 128]);
    assert_eq!(Ledger::read(&*text).unwrap(), Ledger { acknowledgements: 3, ..ledger(128) });
    // Of `128`, only `12` arrived.
    let cut = Ledger::read(&text[..text.len() - 2]).unwrap();
    assert_eq!((cut.acknowledged, cut.acknowledgements), (8, 2));
    let head = text.iter().position(|byte| *byte == b'\n').unwrap();
    assert_eq!(Ledger::read(&text[..=head]).unwrap().acknowledged, 0);
    assert!(matches!(Ledger::read(&text[..head]), Err(LedgerError::Head { .. })));
}

#[test]
fn what_is_no_ledger_is_refused_with_the_line() {
    let with = |line: &str| [&*written(&[4, 8]), line.as_bytes(), b"\n"].concat();
    for line in ["8", "13", "+12", "", "twelve", "99999999999"] {
        let error = Ledger::read(&*with(line)).unwrap_err();
        assert!(matches!(error, LedgerError::Line { number: 4, .. }), "{line}: {error}");
    }
    for text in ["", "\n", "{}\n", "4\n8\n"] {
        let error = Ledger::read(text.as_bytes()).unwrap_err();
        assert!(matches!(error, LedgerError::Head { .. }), "{text:?}: {error}");
    }
    let odd = String::from_utf8(written(&[])).unwrap().replace("4096", "1000");
    let error = Ledger::read(odd.as_bytes()).unwrap_err();
    assert!(matches!(error, LedgerError::Plan(PlanError::Block { found: 1000 })), "{error}");
}

proptest! {
    #[test]
    fn no_text_is_read_as_more_than_it_says(text in any::<Vec<u8>>()) {
        let all = [written(&[4, 8]), text].concat();
        if let Ok(ledger) = Ledger::read(&*all) {
            prop_assert!(ledger.acknowledged >= 8 && ledger.acknowledged.is_multiple_of(4));
        }
    }
}

use super::layout::{Layout, Level, Rotation};
use super::params::ParityUpdate;
use super::stripes::{Extent, StripeWrite, Update};
use proptest::prelude::*;
use std::collections::BTreeSet;

const UNIT: u64 = 65_536;

fn layout(level: Level, rotation: Rotation, members: u32) -> Layout {
    Layout::new(level, rotation, members, UNIT, 1 << 30)
}

/// The members of a stripe in the order of its data, then its parity.
fn row(layout: &Layout, stripe: u64) -> Vec<u32> {
    let data = (0..layout.columns()).map(|column| layout.member(stripe, column));
    data.chain([layout.parity(stripe)]).collect()
}

#[test]
fn the_four_rotations_of_a_raid_5_are_those_of_the_literature() {
    for (rotation, expected) in [
        (Rotation::LeftSymmetric, [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1]]),
        (Rotation::LeftAsymmetric, [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1]]),
        (Rotation::RightAsymmetric, [[1, 2, 3, 0], [0, 2, 3, 1], [0, 1, 3, 2]]),
        (Rotation::RightSymmetric, [[1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]]),
    ] {
        let layout = layout(Level::Raid5, rotation, 4);
        let rows: Vec<_> = (0..3).map(|stripe| row(&layout, stripe)).collect();
        assert_eq!(rows, expected, "{rotation:?}");
    }
}

#[test]
fn each_level_holds_its_share_of_the_members() {
    let gib = 1_u64 << 30;
    for (level, members, expected) in [
        (Level::Raid0, 4, 4 * gib),
        (Level::Raid1, 2, gib),
        (Level::Raid4, 4, 3 * gib),
        (Level::Raid5, 9, 8 * gib),
        (Level::Raid10, 4, 2 * gib),
    ] {
        let layout = layout(level, Rotation::LeftSymmetric, members);
        assert_eq!(layout.capacity(), expected, "{level:?}");
    }
}

/// The first write of that range, which lies in one stripe of nine members.
fn write(offset: u64, len: u64) -> (Layout, StripeWrite) {
    let layout = layout(Level::Raid5, Rotation::LeftSymmetric, 9);
    let stripe = StripeWrite::cut(&layout, offset, len as u32).next().unwrap();
    (layout, stripe)
}

fn reads(offset: u64, len: u64, rule: ParityUpdate) -> (Update, usize) {
    let (layout, stripe) = write(offset, len);
    let (update, mut count) = (stripe.update(&layout, rule, None), 0);
    stripe.reads(&layout, update, |_| count += 1);
    (update, count)
}

#[test]
fn the_way_with_fewer_reads_is_taken() {
    let fewest = ParityUpdate::FewestReads;
    assert_eq!(reads(4096, 4096, fewest), (Update::ReadModifyWrite, 2));
    assert_eq!(reads(0, 2 * UNIT, fewest), (Update::ReadModifyWrite, 3));
    assert_eq!(reads(0, 4 * UNIT, fewest), (Update::Reconstruct, 4));
    assert_eq!(reads(0, 8 * UNIT, fewest), (Update::Full, 0));
    assert_eq!(reads(4096, 8 * UNIT - 4096, fewest), (Update::Reconstruct, 1));
}

#[test]
fn a_threshold_counts_written_units_against_members() {
    // DiskSim's 0.5 of nine members is four: fewer than four units are read and modified.
    let half = ParityUpdate::Threshold { percent: 50 };
    assert_eq!(reads(0, 3 * UNIT, half), (Update::ReadModifyWrite, 4));
    assert_eq!(reads(0, 4 * UNIT, half), (Update::Reconstruct, 4));
    assert_eq!(reads(0, 8 * UNIT, half), (Update::Full, 0));
}

#[test]
fn only_the_part_of_the_parity_that_changes_is_written() {
    let (layout, stripe) = write(UNIT + 4096, 8192);
    let mut extents = Vec::new();
    stripe.writes(&layout, |extent| extents.push(extent));
    let expected = [(1, 4096, 8192), (8, 4096, 8192)].map(|(member, offset, len)| Extent {
        member,
        offset,
        len,
    });
    assert_eq!(extents, expected);
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let level = prop_oneof![
        Just(Level::Raid0),
        Just(Level::Raid1),
        Just(Level::Raid4),
        Just(Level::Raid5),
        Just(Level::Raid10),
    ];
    let rotation = prop_oneof![
        Just(Rotation::LeftSymmetric),
        Just(Rotation::LeftAsymmetric),
        Just(Rotation::RightAsymmetric),
        Just(Rotation::RightSymmetric),
    ];
    (level, rotation, 2_u32..6).prop_map(|(level, rotation, half)| {
        Layout::new(level, rotation, 2 * half, 4 * 512, 100 * 4 * 512)
    })
}

proptest! {
    #[test]
    fn no_two_sectors_lie_at_the_same_place(layout in any_layout()) {
        let mut seen = BTreeSet::new();
        for piece in layout.pieces(0, layout.capacity() as u32) {
            for copy in 0..layout.copies() {
                let member = layout.member(piece.stripe, piece.column) + copy;
                prop_assert!(member < layout.members());
                for sector in 0..piece.len / 512 {
                    let at = piece.from + u64::from(sector) * 512;
                    prop_assert!(seen.insert((member, layout.on_member(piece.stripe, at))));
                }
            }
        }
        let stripes = if layout.has_parity() { 100 } else { 0 };
        for stripe in 0..stripes {
            for at in [0, 512, 1024, 1536] {
                let place = (layout.parity(stripe), layout.on_member(stripe, at));
                prop_assert!(seen.insert(place));
            }
        }
        let all = u64::from(layout.members()) * 100 * 4;
        prop_assert_eq!(seen.len() as u64, all, "and together they fill the members");
    }

    #[test]
    fn a_write_with_parity_reads_what_it_needs_and_writes_what_it_must(
        start in 0_u64..2000,
        sectors in 1_u32..200,
        members in 3_u32..9,
        percent in 0_u32..101,
        failed in prop::option::of(0_u32..3),
    ) {
        let layout = Layout::new(Level::Raid5, Rotation::LeftSymmetric, members, 4096, 1 << 24);
        let (offset, len) = (start * 512, sectors * 512);
        let mut data = 0;
        for stripe in StripeWrite::cut(&layout, offset, len) {
            let update = stripe.update(&layout, ParityUpdate::Threshold { percent }, failed);
            let (mut read, mut written) = (Vec::new(), Vec::new());
            stripe.reads(&layout, update, |extent| read.push(extent));
            stripe.writes(&layout, |extent| written.push(extent));
            let parity = written.pop().unwrap();
            data += written.iter().map(|extent| extent.len).sum::<u32>();
            prop_assert!(written.iter().all(|extent| extent.member != parity.member));
            let asked_of_failed = read.iter().any(|extent| Some(extent.member) == failed);
            // New parity needs for each of its bytes either all data of the stripe, or the old
            // parity and the old of whatever is new.
            match update {
                Update::Full => prop_assert!(read.is_empty()),
                Update::ReadModifyWrite => prop_assert_eq!(read.len(), written.len() + 1),
                Update::Reconstruct => {
                    let all: u32 = read.iter().chain(&written).map(|extent| extent.len).sum();
                    prop_assert_eq!(all, parity.len * layout.columns());
                }
                Update::Rebuild => prop_assert_eq!(read.len(), members as usize),
            }
            prop_assert!(!asked_of_failed || update == Update::Rebuild);
        }
        prop_assert_eq!(data, len, "every byte is written once");
    }
}

use super::layout::{Geometry, Spot};
use super::params::{Sparing, SurfaceOrder, Zone};
use super::tests::small;
use proptest::prelude::*;

fn zone(first: u32, last: u32, sectors_per_track: u32, spares: u32, slips: Vec<u64>) -> Zone {
    Zone {
        first_cylinder: first,
        last_cylinder: last,
        sectors_per_track,
        first_offset: 0.0,
        reserved: 0,
        track_skew: 2.0,
        cylinder_skew: 3.0,
        spares,
        slips,
    }
}

fn geometry(sparing: Sparing, order: SurfaceOrder, zones: Vec<Zone>) -> Geometry {
    let mut params = small();
    params.surfaces = 3;
    params.layout.sparing = sparing;
    params.layout.order = order;
    params.layout.zones = zones;
    Geometry::new(&params)
}

fn track(spot: &Spot) -> (u32, u32) {
    (spot.cylinder, spot.head)
}

#[test]
fn spares_at_the_end_of_a_cylinder_take_what_slips() {
    let sparing = Sparing::PerCylinder { at_front: false, to_zone_end: false };
    let zones = vec![zone(0, 9, 10, 2, vec![5, 31])];
    let geometry = geometry(sparing, SurfaceOrder::Same, zones);
    assert_eq!(geometry.sectors(), 280);
    assert_eq!(geometry.locate(4).sector, 4);
    assert_eq!(geometry.locate(5).sector, 6);
    // The cylinder's 28th sector lies on a spare, the next cylinder begins where it always does.
    let last = geometry.locate(27);
    assert_eq!((track(&last), last.sector), ((0, 2), 8));
    let next = geometry.locate(28);
    assert_eq!((track(&next), next.sector, next.left), ((1, 0), 0, 9));
    assert_eq!(geometry.locate(29).sector, 2);
}

#[test]
fn slipped_tracks_are_passed_over_whole() {
    let zones = vec![zone(0, 9, 10, 2, vec![1])];
    let geometry = geometry(Sparing::Tracks, SurfaceOrder::Same, zones);
    assert_eq!(geometry.sectors(), 280);
    assert_eq!(track(&geometry.locate(9)), (0, 0));
    assert_eq!(track(&geometry.locate(10)), (0, 2));
}

#[test]
fn a_reversed_cylinder_begins_under_the_head_the_last_one_ended_with() {
    let zones = vec![zone(0, 9, 10, 0, vec![])];
    let geometry = geometry(Sparing::None, SurfaceOrder::ReversedByZone, zones);
    assert_eq!(track(&geometry.locate(29)), (0, 2));
    assert_eq!(track(&geometry.locate(30)), (1, 2));
    assert_eq!(track(&geometry.locate(60)), (2, 0));
}

#[test]
fn skews_add_up_over_tracks_and_cylinders() {
    let zones = vec![zone(0, 9, 10, 0, vec![])];
    let geometry = geometry(Sparing::None, SurfaceOrder::Same, zones);
    let tenths = |sector| {
        let share = geometry.locate(sector).track_angle as f64 / 2f64.powi(64);
        (share * 10.0).round() as u32 % 10
    };
    assert_eq!([tenths(0), tenths(10), tenths(20), tenths(30)], [0, 2, 4, 7]);
}

fn sparings() -> impl Strategy<Value = Sparing> {
    let cylinder = |at_front, to_zone_end| Sparing::PerCylinder { at_front, to_zone_end };
    prop_oneof![
        Just(Sparing::None),
        Just(Sparing::Tracks),
        Just(Sparing::PerTrack),
        Just(cylinder(false, false)),
        Just(cylinder(true, false)),
        Just(cylinder(false, true)),
        Just(cylinder(true, true)),
        (1u32..5).prop_map(Sparing::PerRange),
        Just(Sparing::PerZone { beside: false }),
        Just(Sparing::PerZone { beside: true }),
        Just(Sparing::AtEnd),
    ]
}

proptest! {
    /// Whatever the sparing: sectors follow one another in the order in which the heads meet them,
    /// none on a slipped place, and what is said of a sector's track holds for its neighbours.
    #[test]
    fn sectors_lie_in_order_and_know_their_track(
        sparing in sparings(),
        spares in 3u32..5,
        raw in prop::collection::btree_set(0u64..60, 0..4),
    ) {
        let unit = if sparing == Sparing::Tracks { 20 } else { 1 };
        // No more slips than spares in any unit: one in every 20 places.
        let slips: Vec<u64> = raw.iter().map(|slip| slip / unit).collect();
        let mut slips = slips;
        slips.dedup();
        prop_assume!(slips.len() as u32 <= spares);
        let zones = vec![zone(0, 7, 20, spares, slips.clone()), zone(9, 12, 15, spares, vec![])];
        let geometry = geometry(sparing, SurfaceOrder::Same, zones);
        let place = |spot: &Spot| {
            let within = spot.head * spot.sectors_per_track + spot.sector;
            u64::from(spot.cylinder) * 60 + u64::from(within)
        };
        let mut before: Option<Spot> = None;
        let mut on_track = 0;
        for sector in 0..geometry.sectors() {
            let spot = geometry.locate(sector);
            prop_assert!(spot.sector < spot.sectors_per_track && spot.head < 3);
            let bad = if unit == 1 { place(&spot) } else { place(&spot) / 20 };
            let slipped = slips.contains(&bad) && sparing != Sparing::None;
            prop_assert!(spot.cylinder > 7 || !slipped, "{sector} on a slip");
            let same = before.is_some_and(|before| track(&before) == track(&spot));
            if let Some(before) = before {
                prop_assert!(place(&before) < place(&spot), "{sector}: {before:?} {spot:?}");
                prop_assert_eq!(before.left > 1, same, "{}: {:?} {:?}", sector, before, spot);
            }
            on_track = if same { on_track + 1 } else { 0 };
            prop_assert_eq!(geometry.before(sector), on_track);
            before = Some(spot);
        }
    }
}

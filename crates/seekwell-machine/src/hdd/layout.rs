//! Where on the surfaces a sector lies: zones, spares, slipped sectors and skews.
//!
//! Within a zone sectors have a *place*: their number in the order in which the head meets them,
//! spare, slipped and reserved ones included. A sector's number among those that hold data becomes
//! a place in two steps: spares lie at the same place in every unit (track, cylinder, range or
//! whole zone), which is a division; slipped sectors are few, which is a search. Where slipped
//! sectors push on to the end of the zone, the search comes first and counts places without the
//! spares.

use super::params::{Params, Sparing, SurfaceOrder, Zone};

/// Where a sector is, and what follows it on its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    /// Cylinder.
    pub cylinder: u32,
    /// Surface.
    pub head: u32,
    /// Sector of the track, from 0.
    pub sector: u32,
    /// Sectors of the track.
    pub sectors_per_track: u32,
    /// Sectors with data from this one to the end of its track, itself included.
    pub left: u32,
    /// Where the track begins, in 2⁻⁶⁴ of a revolution after the index.
    pub track_angle: u64,
}

/// All zones, ready for look-up.
#[derive(Debug)]
pub(super) struct Geometry {
    zones: Vec<Band>,
    surfaces: u32,
    order: SurfaceOrder,
    sectors: u64,
    cylinders: u32,
}

/// A zone, ready for look-up.
#[derive(Debug)]
struct Band {
    /// First sector number of the zone.
    first: u64,
    first_cylinder: u32,
    per_track: u64,
    per_cylinder: u64,
    /// Places of a unit of sparing.
    unit: u64,
    /// Places of a unit that are no spares.
    used: u64,
    /// Spares before the unit's other places.
    front: u64,
    reserved: u64,
    /// All places of the zone.
    places: u64,
    /// Slipped sectors: places; in zones where they push on to the end, places without spares.
    slips: Vec<u64>,
    /// Whether slips push on to the end of the zone past spares.
    slide: bool,
    /// Places by which slipped sectors shift the angle of what follows: 0, or a unit.
    shift_unit: u64,
    track_skew: u64,
    cylinder_skew: u64,
    first_angle: u64,
}

/// A share of a revolution as a whole number: 2⁶⁴ is a full one, so that sums wrap by themselves.
fn angle(sectors: f64, per_track: u64) -> u64 {
    let turns = sectors / per_track as f64;
    let share = turns - turns.floor();
    (share * 18_446_744_073_709_551_616.0) as u64
}

/// What `index` becomes when the listed places are passed over.
fn pass_over(index: u64, slips: &[u64]) -> u64 {
    let (mut low, mut high) = (0, slips.len());
    while low < high {
        let middle = (low + high) / 2;
        if slips[middle] - middle as u64 <= index { low = middle + 1 } else { high = middle }
    }
    index + low as u64
}

/// How many of the listed places lie within `from..to`.
fn count(slips: &[u64], from: u64, to: u64) -> u64 {
    let until = |place| slips.partition_point(|slip| *slip < place);
    (until(to) - until(from)) as u64
}

impl Band {
    fn new(zone: &Zone, params: &Params, first: u64) -> (Self, u64) {
        let per_track = u64::from(zone.sectors_per_track);
        let per_cylinder = per_track * u64::from(params.surfaces);
        let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder + 1);
        let places = cylinders * per_cylinder;
        let spares = u64::from(zone.spares);
        let reserved = u64::from(zone.reserved);
        let mut slips = zone.slips.clone();
        slips.dedup();
        slips.retain(|slip| *slip < places && params.layout.sparing != Sparing::None);
        if params.layout.sparing == Sparing::Tracks {
            slips.retain(|track| *track < places / per_track);
            slips = slips.iter().flat_map(|t| t * per_track..(t + 1) * per_track).collect();
        }
        let (unit, lost, front, slide) = match params.layout.sparing {
            Sparing::PerTrack => (per_track, spares, 0, false),
            Sparing::PerCylinder { at_front, to_zone_end } => {
                (per_cylinder, spares, if at_front { spares } else { 0 }, to_zone_end)
            }
            Sparing::PerRange(range) => (u64::from(range) * per_cylinder, spares, 0, false),
            _ => (places, 0, 0, false),
        };
        let unit = unit.min(places).max(1);
        let used = unit.saturating_sub(lost).max(1);
        let front = front.min(unit - used);
        let bad = slips.len() as u64;
        // A unit that the zone ends within has no spares.
        let units = places / unit;
        let kept = match params.layout.sparing {
            Sparing::None => places,
            Sparing::Tracks => places.saturating_sub(spares * per_track),
            Sparing::PerZone { beside: false } => places.saturating_sub(spares),
            Sparing::PerZone { beside: true } => places.saturating_sub(spares + bad),
            Sparing::AtEnd => places.saturating_sub(bad),
            Sparing::PerCylinder { to_zone_end: true, .. } => (units * used).saturating_sub(bad),
            _ => units * used + (places % unit).min(used),
        };
        if slide {
            // A bad spare pushes nothing on.
            slips.retain(|slip| (front..front + used).contains(&(slip % unit)));
            let without_spares = |slip: u64| slip / unit * used + slip % unit - front;
            slips = slips.into_iter().map(without_spares).collect();
        }
        let shift_unit = match params.layout.sparing {
            Sparing::PerTrack => per_track,
            Sparing::PerCylinder { .. } => per_cylinder,
            _ => 0,
        };
        let band = Self {
            first,
            first_cylinder: zone.first_cylinder,
            per_track,
            per_cylinder,
            unit,
            used,
            front,
            reserved,
            places,
            slips,
            slide,
            shift_unit,
            track_skew: angle(zone.track_skew, per_track),
            cylinder_skew: angle(zone.cylinder_skew, per_track),
            first_angle: angle(zone.first_offset, per_track),
        };
        (band, kept.saturating_sub(reserved))
    }

    fn slips_of(&self, place: u64) -> &[u64] {
        let from = place / self.unit * self.unit;
        let low = self.slips.partition_point(|slip| *slip < from);
        let high = self.slips.partition_point(|slip| *slip < from + self.unit);
        &self.slips[low..high]
    }

    fn spread(&self, index: u64) -> u64 {
        index / self.used * self.unit + self.front + index % self.used
    }

    /// The place of the zone's sector `number`, and how many with data there are from there to the
    /// end of its track. More slips than spares leave the last sectors without a place of their
    /// own: they share the zone's last.
    fn place(&self, number: u64) -> (u64, u64) {
        let (place, left) = self.place_among(number);
        (place.min(self.places - 1), left.max(1))
    }

    fn place_among(&self, number: u64) -> (u64, u64) {
        let index = number + self.reserved;
        let end_of = |place: u64| (place / self.per_track + 1) * self.per_track;
        if self.slips.is_empty() {
            let place = self.spread(index);
            return (place, (end_of(place) - place).min(self.used - index % self.used));
        }
        if self.slide {
            let index = pass_over(index, &self.slips);
            let place = self.spread(index);
            let left = (end_of(place) - place).min(self.used - index % self.used);
            return (place, left - count(&self.slips, index, index + left));
        }
        let place = self.spread(index);
        let mut slips = self.slips_of(place);
        let mut shift = 0;
        if self.front > 0 {
            // Spares in front: what is slipped moves the unit's beginning forward into them.
            shift = (slips.len() as u64).min(self.front);
            let begin = place / self.unit * self.unit + self.front - shift;
            slips = &slips[slips.partition_point(|slip| *slip < begin)..];
        }
        let slipped = shifted(place - shift, slips);
        let left = end_of(slipped) - slipped;
        let left = left - count(slips, slipped, slipped + left);
        (slipped, left.min(self.used - index % self.used))
    }

    /// How many sectors with data lie before the zone's sector `number` on its track.
    fn before(&self, number: u64, place: u64) -> u64 {
        let begin = place / self.per_track * self.per_track;
        let most = (place - begin).min(number);
        if self.slips.is_empty() && self.used == self.unit {
            return most;
        }
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if self.place(number - middle).0 >= begin { low = middle } else { high = middle - 1 }
        }
        low
    }

    fn track_angle(&self, cylinder: u64, track: u64, surfaces: u64) -> u64 {
        let switches = track + (surfaces - 1) * cylinder;
        let skewed = self
            .first_angle
            .wrapping_add(self.track_skew.wrapping_mul(switches))
            .wrapping_add(self.cylinder_skew.wrapping_mul(cylinder));
        if self.shift_unit == 0 || self.slips.is_empty() {
            return skewed;
        }
        let place = cylinder * self.per_cylinder + track * self.per_track;
        let until = place / self.shift_unit * self.shift_unit;
        let slips = self.slips.partition_point(|slip| *slip < until) as u64;
        skewed.wrapping_add(angle((slips % self.per_track) as f64, self.per_track))
    }
}

/// `place` after the slipped ones of its unit are passed over.
fn shifted(place: u64, slips: &[u64]) -> u64 {
    let mut place = place;
    for slip in slips {
        if *slip > place {
            break;
        }
        place += 1;
    }
    place
}

impl Geometry {
    /// The geometry of a drive whose parameters have been checked.
    pub fn new(params: &Params) -> Self {
        let mut zones = Vec::with_capacity(params.layout.zones.len());
        let mut sectors = 0;
        for zone in &params.layout.zones {
            let (band, kept) = Band::new(zone, params, sectors);
            zones.push(band);
            sectors += kept;
        }
        let cylinders = params.layout.zones.last().map_or(1, |zone| zone.last_cylinder + 1);
        let sectors = params.layout.sectors.map_or(sectors, |offered| offered.min(sectors));
        Self { zones, surfaces: params.surfaces, order: params.layout.order, sectors, cylinders }
    }

    /// Sectors that hold data.
    pub const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Cylinders, those between zones included.
    pub const fn cylinders(&self) -> u32 {
        self.cylinders
    }

    fn band(&self, sector: u64) -> (usize, &Band) {
        let index = self.zones.partition_point(|band| band.first <= sector) - 1;
        (index, &self.zones[index])
    }

    /// Where `sector` is; it lies below [`Geometry::sectors`].
    pub fn locate(&self, sector: u64) -> Spot {
        let (index, band) = self.band(sector);
        let number = sector - band.first;
        let (place, left) = band.place(number);
        let end = self.zones.get(index + 1).map_or(self.sectors, |next| next.first);
        let left = left.min(end - sector);
        let surfaces = u64::from(self.surfaces);
        let cylinder = place / band.per_cylinder;
        let track = place % band.per_cylinder / band.per_track;
        let absolute = u64::from(band.first_cylinder) + cylinder;
        let reversed = match self.order {
            SurfaceOrder::Same => false,
            SurfaceOrder::ReversedByZone => cylinder % 2 == 1,
            SurfaceOrder::ReversedByCylinder => absolute % 2 == 1,
        };
        Spot {
            cylinder: absolute as u32,
            head: if reversed { surfaces - 1 - track } else { track } as u32,
            sector: (place % band.per_track) as u32,
            sectors_per_track: band.per_track as u32,
            left: left as u32,
            track_angle: band.track_angle(cylinder, track, surfaces),
        }
    }

    /// How many sectors with data lie before `sector` on its track.
    pub fn before(&self, sector: u64) -> u64 {
        let (_, band) = self.band(sector);
        let number = sector - band.first;
        band.before(number, band.place(number).0)
    }
}

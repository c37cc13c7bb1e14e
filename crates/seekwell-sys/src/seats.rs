//! A few places for connections that no peer can take from the others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A place in use.
#[derive(Debug, Clone, Copy)]
pub struct Taken<P, T> {
    /// What its server knows it by.
    pub id: u64,
    /// Who has it.
    pub peer: P,
    /// Since when it has waited for its peer to say or take something; none while its peer waits.
    pub idle_since: Option<T>,
}

/// Where a newcomer can sit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// There is room.
    Free,
    /// In the place of this one.
    Of(u64),
    /// Nowhere: every connection is being served.
    Nowhere,
}

/// How many places there are.
#[derive(Debug, Clone, Copy)]
pub struct Seats {
    /// For all peers together.
    pub all: usize,
    /// For one peer.
    pub per_peer: usize,
}

impl Seats {
    /// The place of a newcomer: a free one, else that of the connection that has kept its server
    /// waiting longest, of its own peer where that has as many as one peer may have.
    pub fn find<P: PartialEq, T: Ord>(
        self,
        peer: &P,
        taken: impl IntoIterator<Item = Taken<P, T>>,
    ) -> Seat {
        let taken: Vec<_> = taken.into_iter().collect();
        let own = taken.iter().filter(|one| one.peer == *peer).count();
        if own < self.per_peer && taken.len() < self.all {
            return Seat::Free;
        }
        let in_the_way = taken.into_iter().filter(|one| own < self.per_peer || one.peer == *peer);
        let idle = in_the_way.filter_map(|one| Some((one.idle_since?, one.id)));
        idle.min().map_or(Seat::Nowhere, |(_, id)| Seat::Of(id))
    }
}

/// What counts as one peer: an IPv6 host has a /64 (RFC 4291), this machine all of loopback.
pub fn peer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        address if address.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & u128::MAX << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEATS: Seats = Seats { all: 3, per_peer: 2 };

    fn find(peer: char, taken: &[(char, Option<u32>)]) -> Seat {
        let taken = taken.iter().zip(1..);
        SEATS.find(&peer, taken.map(|(&(peer, idle_since), id)| Taken { id, peer, idle_since }))
    }

    #[test]
    fn one_peer_never_has_all_places_and_gives_up_its_own_when_it_wants_more() {
        assert_eq!(find('a', &[('a', Some(1))]), Seat::Free);
        assert_eq!(find('a', &[('a', Some(5)), ('a', Some(4))]), Seat::Of(2));
        assert_eq!(find('b', &[('a', Some(5)), ('a', Some(4))]), Seat::Free);
        assert_eq!(find('a', &[('b', Some(1)), ('a', None), ('a', None)]), Seat::Nowhere);
    }

    #[test]
    fn in_a_full_house_whoever_kept_its_server_waiting_longest_makes_room() {
        assert_eq!(find('c', &[('a', Some(3)), ('a', Some(2)), ('b', Some(4))]), Seat::Of(2));
        assert_eq!(find('c', &[('a', Some(3)), ('a', None), ('b', None)]), Seat::Of(1));
        assert_eq!(find('c', &[('a', None), ('a', None), ('b', None)]), Seat::Nowhere);
    }

    #[test]
    fn addresses_that_one_host_has_for_the_asking_are_one_peer() {
        let same = |a: &str, b: &str| peer(a.parse().unwrap()) == peer(b.parse().unwrap());
        assert!(same("127.0.0.1", "127.9.9.9") && same("::1", "127.0.0.1"));
        assert!(same("2001:db8::1", "2001:db8::ffff:1") && same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("2001:db8:0:1::1", "2001:db8:0:2::1") && !same("10.0.0.1", "10.0.0.2"));
    }
}

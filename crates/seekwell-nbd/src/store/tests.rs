use super::*;
use proptest::prelude::*;
use rand_core::SeedableRng;

const SIZE: u64 = 16 * PAGE;

fn read(store: &Store, offset: u64, len: usize) -> Vec<u8> {
    let mut into = vec![9; len];
    store.read(offset, &mut into).unwrap();
    into
}

fn cut(store: &mut Store, seed: u64) -> Lost {
    store.cut(std::iter::empty(), &mut Xoshiro256PlusPlus::seed_from_u64(seed)).unwrap()
}

#[test]
fn a_flush_covers_what_was_written_before_it_was_asked_for() {
    for seed in 0..50 {
        let mut store = Store::in_memory(1 << 20);
        store.write(0, &[1; 4096], false).unwrap();
        let mark = store.begin_flush();
        store.write(2048, &[2; 4096], false).unwrap();
        store.end_flush(mark).unwrap();
        assert_eq!(read(&store, 2048, 512), [2; 512]);
        let lost = cut(&mut store, seed);
        assert_eq!(lost.kept_sectors + lost.lost_sectors, 8);
        assert_eq!(read(&store, 0, 2048), [1; 2048], "seed {seed}");
        for sector in (2048..4096).step_by(512) {
            let found = read(&store, sector, 512);
            assert!(found == [1; 512] || found == [2; 512], "seed {seed}");
        }
    }
}

#[test]
fn cuts_of_many_seeds_take_everything_something_and_nothing() {
    let taken = (0..100).map(|seed| {
        let mut store = Store::in_memory(1 << 20);
        store.write(0, &[1; 8192], false).unwrap();
        cut(&mut store, seed).lost_sectors
    });
    let taken: Vec<u64> = taken.collect();
    assert!(taken.contains(&0) && taken.contains(&16));
    assert!(taken.iter().any(|n| (1..16).contains(n)));
}

#[test]
fn a_write_that_is_durable_survives_older_ones_that_are_not() {
    for seed in 0..20 {
        let mut store = Store::in_memory(1 << 20);
        store.write(0, &[1; 4096], false).unwrap();
        store.write(512, &[2; 512], true).unwrap();
        assert_eq!(read(&store, 0, 1024), [[1; 512], [2; 512]].concat());
        cut(&mut store, seed);
        assert_eq!(read(&store, 512, 512), [2; 512], "seed {seed}");
    }
}

#[test]
fn a_full_memory_takes_no_more_and_still_takes_what_it_has() {
    let mut store = Store::in_memory(2 * PAGE);
    store.write(0, &[1; 8192], false).unwrap();
    assert_eq!(store.write(8192, &[1; 512], false), Err(Failure::NoSpace));
    assert_eq!(store.write(8192, &[1; 512], true), Err(Failure::NoSpace));
    store.write(4096, &[2; 4096], false).unwrap();
    store.trim(0, 4096).unwrap();
    store.write(8192, &[3; 4096], false).unwrap();
    assert_eq!(read(&store, 0, 12_288), [[0; 4096], [2; 4096], [3; 4096]].concat());
}

#[test]
fn no_more_than_a_cache_is_volatile() {
    let mut store = Store::in_memory(1 << 30);
    for at in 0..2 * CACHE_BYTES / PAGE {
        store.write(at * PAGE, &[1; 4096], false).unwrap();
    }
    let lost = cut(&mut store, 1);
    assert!((lost.kept_sectors + lost.lost_sectors) * SECTOR <= CACHE_BYTES + 2 * PAGE);
}

#[test]
fn a_file_is_made_and_used_again_and_nothing_else_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk");
    let mut store = Store::in_file(&path, SIZE).unwrap();
    store.write(4096, &[7; 512], false).unwrap();
    assert!(matches!(Store::in_file(&path, SIZE), Err(DataError::Served { .. })));
    store.settle().unwrap();
    drop(store);
    let store = Store::in_file(&path, SIZE).unwrap();
    assert_eq!(read(&store, 4096, 512), [7; 512]);
    drop(store);
    let other = Store::in_file(&path, 2 * SIZE);
    assert!(matches!(other, Err(DataError::OtherSize { found: SIZE, .. })));
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for wrong in [dir.path(), &link, Path::new("/dev/null")] {
        let refused = Store::in_file(wrong, SIZE);
        assert!(matches!(refused, Err(DataError::NoFile { .. })), "{wrong:?}: {refused:?}");
    }
    assert_eq!(std::fs::metadata(&path).unwrap().len(), SIZE);
}

#[derive(Debug, Clone)]
enum Act {
    Write { sector: u64, sectors: u64, durable: bool },
    Trim { sector: u64, sectors: u64 },
    Flush,
}

fn act() -> impl Strategy<Value = Act> {
    let place = (0_u64..100, 1_u64..28);
    prop_oneof![
        6 => (place.clone(), any::<bool>()).prop_map(|((sector, sectors), durable)| Act::Write {
            sector, sectors, durable,
        }),
        1 => place.prop_map(|(sector, sectors)| Act::Trim { sector, sectors }),
        2 => Just(Act::Flush),
    ]
}

proptest! {
    #[test]
    fn a_store_reads_what_was_written_and_a_cut_leaves_what_was_durable_or_newer(
        acts in prop::collection::vec(act(), 1..40),
        seed in any::<u64>(),
        in_file in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut store = match in_file {
            true => Store::in_file(&dir.path().join("disk"), SIZE).unwrap(),
            false => Store::in_memory(1 << 20),
        };
        // What each sector may be after a cut, oldest first; the last is what is read.
        let mut may: Vec<Vec<u8>> = vec![vec![0]; (SIZE / SECTOR) as usize];
        for (number, act) in acts.iter().enumerate() {
            let value = number as u8 + 1;
            match *act {
                Act::Write { sector, sectors, durable } => {
                    let data = vec![value; (sectors * SECTOR) as usize];
                    store.write(sector * SECTOR, &data, durable).unwrap();
                    for one in &mut may[sector as usize..(sector + sectors) as usize] {
                        if durable {
                            one.clear();
                        }
                        one.push(value);
                    }
                }
                Act::Trim { sector, sectors } => {
                    store.trim(sector * SECTOR, sectors * SECTOR).unwrap();
                    may[sector as usize..(sector + sectors) as usize].fill(vec![0]);
                }
                Act::Flush => {
                    store.settle().unwrap();
                    may.iter_mut().for_each(|one| drop(one.drain(..one.len() - 1)));
                }
            }
        }
        let all = read(&store, 0, SIZE as usize);
        for (sector, one) in all.chunks(512).zip(&may) {
            prop_assert_eq!(sector, &[*one.last().unwrap(); 512]);
        }
        cut(&mut store, seed);
        let all = read(&store, 0, SIZE as usize);
        for (sector, one) in all.chunks(512).zip(&may) {
            prop_assert!(one.contains(&sector[0]) && sector.iter().all(|b| *b == sector[0]));
        }
    }
}

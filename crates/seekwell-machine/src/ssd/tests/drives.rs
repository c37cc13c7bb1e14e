//! Drives as their data sheets and reviews describe them. What is not published is said to be
//! fitted, and on what, or assumed.

use crate::ssd::{Collection, Fill, FirmwareParams, MovesAtOnce, SsdParams};

/// Crucial RealSSD C300, 256 GB, SATA 6 Gb/s, 2010.
///
/// Eight channels, 34 nm Micron MLC, ONFI 2.1 (Tom's Hardware 2908, `AnandTech` 2909,
/// `HotHardware`). That flash is MT29F32G08CBABA and its packages (data sheet): 32 Gbit dies, pages
/// of 4 KiB, blocks of 256, read 50 µs, program 900 µs, erase 3 ms, 166 MT/s; so 64 dies, and 256
/// GiB for 256,060,514,304 bytes. Fitted: the processor's times, on the four corners of the data
/// sheet; `map_percent`, on the 128 GB drive's random writes; `read_latency_ns`, on the 8,000 reads
/// of 512 bytes a second one at a time of the DragonFly measurement. Assumed: no suspension,
/// buffer, read-ahead, flush and discard.
pub fn c300_256(fill: Fill) -> SsdParams {
    SsdParams {
        capacity_bytes: 256_060_514_304,
        sector_bytes: 512,
        flash_bytes: 256 << 30,
        depth: 32,
        channels: 8,
        dies_per_channel: 8,
        page_bytes: 4096,
        program_pages: 1,
        pages_per_block: 256,
        sense_ns: vec![50_000],
        program_ns: 900_000,
        erase_ns: 3_000_000,
        suspend_ns: 0,
        reads_ahead: 0,
        channel_bytes_per_s: 166_000_000,
        firmware: FirmwareParams {
            read_ns: 5_300,
            read_unit_ns: 11_370,
            write_ns: 3_000,
            write_unit_ns: 19_000,
            flush_ns: 50_000,
            discard_ns: 100_000,
        },
        read_latency_ns: 40_000,
        write_latency_ns: 20_000,
        buffer_bytes: 16 << 20,
        buffer_protected: false,
        write_pause: None,
        write_slots: None,
        write_gap_ns: 0,
        moves_at_once: MovesAtOnce::default(),
        read_ahead_bytes: 128 << 10,
        map_percent: 15,
        collection: Collection::Greedy,
        fill,
        map_cache_bytes: None,
        slc: None,
        zones: None,
        seed: 1,
    }
}

/// The same with 128 GB: half the dies, and its own processor times fitted on its own corners.
pub fn c300_128(fill: Fill) -> SsdParams {
    let whole = c300_256(fill);
    SsdParams {
        capacity_bytes: 128_035_676_160,
        sector_bytes: 512,
        flash_bytes: 128 << 30,
        dies_per_channel: 4,
        firmware: FirmwareParams { read_ns: 8_740, read_unit_ns: 11_260, ..whole.firmware },
        ..whole
    }
}

/// A SATA drive of 1 TB, 2014 to 2018: Samsung 850 EVO (data sheet: 540/520 MB/s, 98,000/90,000
/// IOPS; 10,000 at depth 1), 860 EVO alike with 550/520.
///
/// Sense 46 to 75 µs, program 390 to 700 µs, controller 17.5 µs: the ranges fitted by ublk-disksim
/// to such drives. Fitted: the processor's write times, on the data sheet's writes. The reads end
/// at the link. Assumed: 8 channels of 4 dies, 16 KiB pages in two planes, 400 MB/s a channel,
/// suspension, buffer, read-ahead, spare of 7 %.
pub fn sata_1tb(fill: Fill) -> SsdParams {
    SsdParams {
        capacity_bytes: 1_000_204_886_016,
        sector_bytes: 512,
        flash_bytes: 1 << 40,
        depth: 32,
        channels: 8,
        dies_per_channel: 4,
        page_bytes: 16_384,
        program_pages: 2,
        pages_per_block: 256,
        sense_ns: vec![46_000, 60_000, 75_000],
        program_ns: 700_000,
        erase_ns: 5_000_000,
        suspend_ns: 20_000,
        reads_ahead: 8,
        channel_bytes_per_s: 400_000_000,
        firmware: FirmwareParams {
            read_ns: 2_000,
            read_unit_ns: 1_000,
            write_ns: 3_700,
            write_unit_ns: 7_400,
            flush_ns: 100_000,
            discard_ns: 50_000,
        },
        read_latency_ns: 17_500,
        write_latency_ns: 10_000,
        buffer_bytes: 32 << 20,
        buffer_protected: false,
        write_pause: None,
        write_slots: None,
        write_gap_ns: 0,
        moves_at_once: MovesAtOnce::default(),
        read_ahead_bytes: 512 << 10,
        map_percent: 5,
        collection: Collection::Greedy,
        fill,
        map_cache_bytes: None,
        slc: None,
        zones: None,
        seed: 1,
    }
}

/// An NVMe drive of 1 TB, 2018: Samsung 970 PRO (data sheet: 3,500/2,700 MB/s, 500,000/500,000
/// IOPS, 15,000 at depth 1).
///
/// Sense 29.76 and 41.76 µs, 800 MB/s a channel, 21.5 µs in the controller: `NVMeVirt`'s constants
/// for it (`ssd_config.h`). 32 dies of 256 Gbit by capacity. Fitted: the processor's times and
/// `program_ns`, on the data sheet. Assumed: planes, suspension, buffer, read-ahead.
pub fn nvme_1tb(fill: Fill) -> SsdParams {
    SsdParams {
        capacity_bytes: 1_024_209_543_168,
        sector_bytes: 512,
        flash_bytes: 1100 << 30,
        depth: 1024,
        channels: 8,
        dies_per_channel: 4,
        page_bytes: 16_384,
        program_pages: 2,
        pages_per_block: 256,
        sense_ns: vec![29_760, 41_760],
        program_ns: 340_000,
        erase_ns: 4_000_000,
        suspend_ns: 10_000,
        reads_ahead: 8,
        channel_bytes_per_s: 800_000_000,
        firmware: FirmwareParams {
            read_ns: 880,
            read_unit_ns: 1_120,
            write_ns: 850,
            write_unit_ns: 1_150,
            flush_ns: 10_000,
            discard_ns: 20_000,
        },
        read_latency_ns: 21_500,
        write_latency_ns: 4_000,
        buffer_bytes: 64 << 20,
        buffer_protected: false,
        write_pause: None,
        write_slots: None,
        write_gap_ns: 0,
        moves_at_once: MovesAtOnce::default(),
        read_ahead_bytes: 1 << 20,
        map_percent: 0,
        collection: Collection::Greedy,
        fill,
        map_cache_bytes: None,
        slc: None,
        zones: None,
        seed: 1,
    }
}

/// A small drive for the laws: 64 MiB, 4 dies, superblocks of 1 MiB.
pub fn small(fill: Fill) -> SsdParams {
    SsdParams {
        capacity_bytes: 64 << 20,
        sector_bytes: 512,
        flash_bytes: 80 << 20,
        depth: 64,
        channels: 2,
        dies_per_channel: 2,
        page_bytes: 8192,
        program_pages: 2,
        pages_per_block: 16,
        sense_ns: vec![20_000, 50_000],
        program_ns: 300_000,
        erase_ns: 2_000_000,
        suspend_ns: 5_000,
        reads_ahead: 2,
        channel_bytes_per_s: 200_000_000,
        firmware: FirmwareParams {
            read_ns: 3_000,
            read_unit_ns: 1_000,
            write_ns: 4_000,
            write_unit_ns: 2_000,
            flush_ns: 9_000,
            discard_ns: 7_000,
        },
        read_latency_ns: 5_000,
        write_latency_ns: 3_000,
        buffer_bytes: 256 << 10,
        buffer_protected: false,
        write_pause: None,
        write_slots: None,
        write_gap_ns: 0,
        moves_at_once: MovesAtOnce::default(),
        read_ahead_bytes: 64 << 10,
        map_percent: 10,
        collection: Collection::Greedy,
        fill,
        map_cache_bytes: None,
        slc: None,
        zones: None,
        seed: 7,
    }
}

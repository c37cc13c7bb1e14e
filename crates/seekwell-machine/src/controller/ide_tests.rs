use super::{Ide, IdeError, IdeMode, IdeParams, PortWidth};
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use crate::part::Part;
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A channel whose host takes no time beside the cycles at the device.
const FREE: IdeParams =
    IdeParams { access_ns: 0, command_ns: 0, interrupt_ns: 0, ..IdeParams::PLAIN };

fn channel(params: IdeParams, service: u64) -> Ide<FakeDrive> {
    Ide::new(params, vec![FakeDrive::new(1, service)]).unwrap()
}

/// Bytes a microsecond, that is MB/s, in reads of 128 KiB from a drive that takes no time.
fn rate(params: IdeParams) -> f64 {
    let mut channel = channel(params, 0);
    let ends = closed_loop(&mut channel, 1, 100, |n| (Op::Read, u64::from(n) << 17, 1 << 17));
    100.0 * 131_072.0 / (ends.last().unwrap().0 as f64 / 1e3)
}

#[test]
fn every_mode_carries_what_its_cycle_allows() {
    for (mode, expected) in [
        (IdeMode::Pio0, 3.3),
        (IdeMode::Pio1, 5.2),
        (IdeMode::Pio2, 8.3),
        (IdeMode::Pio3, 11.1),
        (IdeMode::Pio4, 16.7),
        (IdeMode::Mwdma0, 4.2),
        (IdeMode::Mwdma1, 13.3),
        (IdeMode::Mwdma2, 16.7),
        (IdeMode::Udma0, 16.7),
        (IdeMode::Udma1, 25.0),
        (IdeMode::Udma2, 33.3),
        (IdeMode::Udma3, 44.4),
        (IdeMode::Udma4, 66.7),
        (IdeMode::Udma5, 100.0),
        (IdeMode::Udma6, 133.3),
    ] {
        let rate = rate(IdeParams { mode, ..FREE });
        assert!((rate / expected - 1.0).abs() < 0.02, "{mode:?} {rate}");
    }
}

/// R4: what hdparm -t printed before (3.58 MB/s) and after (6.50) `-c3 -m16` on a disk that gives
/// 20 MB/s by DMA. Of the channel alone: what the program's copying takes comes on top.
#[test]
fn wide_accesses_and_many_sectors_an_interrupt_explain_the_hdparm_rows() {
    let plain = rate(IdeParams::PLAIN);
    assert!((3.58..4.0).contains(&plain), "{plain}");
    let tuned = IdeParams { width: PortWidth::Bits32Sync, multcount: 16, ..IdeParams::PLAIN };
    let tuned = rate(tuned);
    assert!((6.5..8.0).contains(&tuned), "{tuned}");
    let dma = rate(IdeParams { mode: IdeMode::Udma2, ..IdeParams::PLAIN });
    assert!(dma > 30.0, "the disk is the limit under DMA: {dma}");
}

#[test]
fn pio_holds_the_processor_and_dma_leaves_it_alone() {
    let busy = [IdeMode::Pio4, IdeMode::Udma2].map(|mode| {
        let mut channel = channel(IdeParams { mode, ..IdeParams::PLAIN }, 5_000_000);
        channel.submit(command(0, Op::Read, 0, 1 << 17), Nanos::ZERO);
        drain(&mut channel);
        channel.usage().processor.0
    });
    // 65,536 words of 300 + 120 ns, 256 interrupts; against one interrupt. Both: giving the
    // command.
    let give = 20_000 + 9 * (300 + 120);
    assert_eq!(busy, [give + 65_536 * 420 + 256 * 23_100, give + 23_100]);
}

#[test]
fn two_devices_share_the_channel_and_their_addresses_follow_each_other() {
    let drives = vec![FakeDrive::new(1, 1_000_000), FakeDrive::new(1, 1_000_000)];
    let mut channel = Ide::new(FREE, drives).unwrap();
    assert_eq!(channel.capacity(), 2 << 40);
    channel.submit(command(0, Op::Read, 0, 512), Nanos::ZERO);
    channel.submit(command(1, Op::Read, (1 << 40) + 4096, 512), Nanos::ZERO);
    let ends = drain(&mut channel);
    assert!(ends[1].at.0 >= 2_000_000, "one after the other");
    assert_eq!(channel.devices()[1].given[0].1.offset, 4096);
    let three = (0..3).map(|_| FakeDrive::new(1, 1)).collect();
    assert_eq!(Ide::new(FREE, three).unwrap_err(), IdeError::Devices { devices: 3 });
}

#[test]
fn a_read_under_dma_ends_one_sector_after_a_medium_that_streams() {
    let mut drive = FakeDrive::new(1, 10_000_000);
    drive.streams = Nanos(10_000_000);
    let params = IdeParams { mode: IdeMode::Udma2, ..FREE };
    let mut channel = Ide::new(params, vec![drive]).unwrap();
    channel.submit(command(0, Op::Read, 0, 1 << 17), Nanos::ZERO);
    assert_eq!(drain(&mut channel)[0].at.0, 9 * 120 + 10_000_000 + 256 * 60);
}

proptest! {
    #[test]
    fn the_channel_does_one_command_at_a_time_in_order(
        arrivals in arrivals(), service in 0_u64..300_000, pio in any::<bool>(),
    ) {
        let mode = if pio { IdeMode::Pio4 } else { IdeMode::Udma5 };
        // The fake takes one at a time and asserts it.
        let mut channel = channel(IdeParams { mode, ..IdeParams::PLAIN }, service);
        let ends = lawful(&mut channel, 200, &arrivals);
        prop_assert!(ends.iter().map(|done| done.tag).eq(0..arrivals.len() as u32));
    }
}

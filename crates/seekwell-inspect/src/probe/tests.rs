//! Replies as real kernels gave them (Linux 6.1, AHCI and PIIX in the lab).

use super::*;
use proptest::prelude::*;

/// A disk with prepared answers that remembers what it was asked.
struct Scripted {
    replies: Vec<Reply>,
    asked: Vec<u8>,
}

impl Passthrough for Scripted {
    fn send(&mut self, cdb: [u8; 16], data: &mut [u8]) -> Result<Reply, ProbeError> {
        assert_eq!(cdb[0], 0x85, "only ATA PASS-THROUGH(16) is sent");
        assert!(data.len() <= SECTOR, "at most one sector is read");
        self.asked.push(cdb[14]);
        Ok(self.replies.remove(0))
    }
}

fn reply(status: u8, sense: &str) -> Reply {
    let byte = |i| u8::from_str_radix(&sense[i..i + 2], 16).unwrap();
    Reply { status, host: 0, sense: (0..sense.len()).step_by(2).map(byte).collect() }
}

/// Descriptor-format sense of CHECK POWER MODE with this count register.
fn power_reply(count: u8) -> Reply {
    reply(2, &format!("7201001d0000000e090c000000{count:02x}000000000000000050"))
}

const REFUSED: &str = "700005000000001200000000240000c00001000000000000";

fn run(replies: Vec<Reply>) -> (Result<Probe, ProbeError>, Vec<u8>) {
    let mut disk = Scripted { replies, asked: Vec::new() };
    (probe(&mut disk), disk.asked)
}

#[test]
fn a_healthy_ahci_disk_accepts_both() {
    let (found, asked) = run(vec![power_reply(0xff), reply(0, ""), reply(0, "")]);
    let accepted = Some(Answer::Accepted);
    assert_eq!(found, Ok(Probe { power: Power::Active, ncq: accepted, dma: accepted }));
    assert_eq!(asked, [0xe5, 0x60, 0x25]);
}

#[test]
fn a_disk_whose_queueing_and_dma_were_switched_off_is_found_out_although_sysfs_says_32() {
    let (found, _) = run(vec![power_reply(0x80), reply(2, REFUSED), reply(2, REFUSED)]);
    let refused = Some(Answer::Refused);
    assert_eq!(found, Ok(Probe { power: Power::Idle, ncq: refused, dma: refused }));
}

#[test]
fn a_disk_in_standby_is_asked_nothing_that_would_wake_it() {
    let (found, asked) = run(vec![power_reply(0x00)]);
    assert_eq!(found, Ok(Probe { power: Power::Standby, ncq: None, dma: None }));
    assert_eq!(asked, [0xe5]);
}

#[test]
fn a_disk_that_does_not_tell_its_power_mode_is_left_alone() {
    let (found, asked) = run(vec![reply(0, "")]);
    assert_eq!(found.unwrap().power, Power::Unknown);
    assert_eq!(asked, [0xe5]);
}

#[test]
fn a_disk_without_ata_pass_through_is_said_to_be_none() {
    let (found, asked) = run(vec![reply(2, "70000500000000120000000020000000")]);
    assert_eq!(found.unwrap().ncq, Some(Answer::NotAta));
    assert_eq!(asked, [0xe5]);
}

#[test]
fn fixed_format_sense_tells_the_power_mode_too() {
    let power = |fixed: &Reply| Power::of(Registers::of(&fixed.sense).map(|r| r.count));
    let fixed = reply(2, "f000010050ff000a00000000001d00000000");
    assert_eq!(power(&fixed), Power::Standby);
    let fixed = reply(2, "f0000100500080000000000000001d000000");
    assert_eq!(power(&fixed), Power::Unknown, "codes at their place, not one byte later");
}

proptest! {
    #[test]
    fn no_reply_makes_it_panic(
        status in any::<u8>(), host in any::<u16>(),
        sense in prop::collection::vec(any::<u8>(), 0..70),
    ) {
        let all = vec![Reply { status, host, sense }; 3];
        prop_assert!(run(all).0.is_ok());
    }
}

#[test]
fn a_device_that_is_no_scsi_disk_gives_an_error_and_not_a_verdict() {
    let Ok(mut null) = SgIo::open("/dev/null") else { return eprintln!("skipped: no /dev/null") };
    let error = probe(&mut null).unwrap_err();
    assert!(matches!(error, ProbeError::NotScsi { .. } | ProbeError::Denied), "{error}");
    assert!(matches!(SgIo::open("/no/such"), Err(ProbeError::Open { .. })));
}

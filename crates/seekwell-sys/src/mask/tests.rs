use super::*;
use crate::view::View;

const KEY: [u8; 16] = *b"a key of a test!";
const SERIAL: &str = "WD-WX41A1234567";
const WWN: &str = "50014ee2b1234567";

/// A drive whose name is written in every way known.
fn drive_of(serial: &str) -> Bundle {
    let mut words = vec![0x2020u16; 256];
    let swapped: Vec<u16> = format!("{serial:>20}")
        .as_bytes()
        .chunks(2)
        .map(|p| u16::from_be_bytes([p[0], p[1]]))
        .collect();
    words[10..20].copy_from_slice(&swapped);
    for i in 0..4 {
        words[108 + i] = u16::from_str_radix(&WWN[4 * i..4 * i + 4], 16).unwrap();
    }
    words[255] = 0xa5;
    let rows: Vec<String> = words
        .chunks(8)
        .map(|row| row.iter().map(|w| format!("{w:04x} ")).collect::<String>() + "\n")
        .collect();
    let mut page89 = vec![0u8; 60];
    page89[1] = 0x89;
    page89.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    let page80 = [&[0, 0x80, 0, 20][..], format!("{serial:>20}").as_bytes()].concat();
    let binary: Vec<u8> =
        (0..8).map(|i| u8::from_str_radix(&WWN[2 * i..2 * i + 2], 16).unwrap()).collect();
    let page83 = [&[0, 0x83, 0, 12, 1, 3, 0, 8][..], &binary].concat();
    let hex: String = serial.bytes().map(|b| format!("{b:02x}")).collect();
    let mut snapshot = Snapshot::new();
    let mut put = |path: &str, content: &[u8]| snapshot.put_file(Path::new(path), content);
    put("/sys/d/ata1/link1/dev1.0/ata_device/dev1.0/id", rows.concat().as_bytes());
    put("/sys/d/vpd_pg89", &page89);
    put("/sys/d/vpd_pg80", &page80);
    put("/sys/d/vpd_pg83", &page83);
    put("/sys/d/wwid", format!("naa.{WWN}\n").as_bytes());
    put("/sys/n/wwid", format!("nvme.8086-{hex}-494e54454c-00000001\n").as_bytes());
    put("/sys/m/serial", b"7\n");
    put("/sys/z/serial", b"0x00000000\n");
    put("/sys/k/dm/uuid", b"CRYPT-LUKS2-0123456789abcdef0123456789abcdef-root\n");
    put("/proc/sys/kernel/hostname", b"vault17\n");
    put("/proc/self/mountinfo", b"1 2 0:4 / /x rw - nfs4 nas.example.org:/export rw\n");
    put("/proc/cmdline", b"root=PARTUUID=deadbe12-02 ro\n");
    put(
        "/run/udev/data/b8:0",
        format!(
            "S:disk/by-id/ata-WDC_{serial}\nE:ID_SERIAL_SHORT={serial}\nE:ID_WWN=0x{WWN}\n\
             E:ID_SERIAL=WDC_X_{serial}\nE:ID_FS_UUID=3d3e8f3a-1c1b-4d57-9a3c-abcdef012345\n"
        )
        .as_bytes(),
    );
    put(
        "/dev/kmsg",
        format!(
            "6,1,2,-;usb 1-1: SerialNumber: {serial}\n6,1,2,-;eth0: 52:54:00:ab:cd:ef up\n\
             6,3,4,-;systemd[1]: Hostname set to <vault17>.\n\
             3,5,6,-;ata1.00: cmd 60/08:00:00:00:00/00:00:00:00:00/40 tag 0 ncq dma 4096 in\n"
        )
        .as_bytes(),
    );
    let listing = format!(
        "/dev/disk/by-id/ata-WDC_{serial}-part1 -> ../../sda1\n\
         /dev/disk/by-id/wwn-0x{} -> ../../sda\n\
         /dev/disk/by-uuid/3d3e8f3a-1c1b-4d57-9a3c-abcdef012345 -> ../../sda1\n\
         /dev/sda: \n",
        WWN.to_uppercase()
    );
    snapshot.listing("l", &listing).unwrap();
    let mut bundle = Bundle { snapshot, ..Bundle::default() };
    bundle.field("target", format!("/dev/disk/by-id/ata-WDC_{serial}"));
    bundle
}

fn drive() -> Bundle {
    drive_of(SERIAL)
}

fn masked() -> Bundle {
    Mask::new(KEY).bundle(&drive())
}

fn text_of(bundle: &Bundle) -> String {
    let mut out = Vec::new();
    bundle.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn nothing_of_the_original_survives_in_any_shape() {
    let (before, after) = (text_of(&drive()), text_of(&masked()));
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let swap = |text: &str| -> Vec<u8> {
        text.as_bytes().chunks(2).flat_map(|p| p.iter().rev().copied()).collect()
    };
    let padded = format!("{SERIAL:>20}");
    let words = padded.as_bytes().chunks(2).map(hex).collect::<Vec<_>>();
    let shapes = [
        SERIAL.to_owned(),
        hex(SERIAL.as_bytes()),
        hex(&swap(&padded))[8..].to_owned(),
        words[3..6].join(" "),
        WWN.to_owned(),
        WWN.to_uppercase(),
        [&WWN[..4], &WWN[4..8], &WWN[8..12], &WWN[12..]].join(" "),
        "0123456789abcdef0123456789abcdef".to_owned(),
        "vault17".to_owned(),
        "nas.example.org".to_owned(),
        "deadbe12".to_owned(),
        "3d3e8f3a-1c1b-4d57-9a3c-abcdef012345".to_owned(),
        "52:54:00:ab:cd:ef".to_owned(),
    ];
    for shape in shapes {
        assert!(before.contains(&shape), "{shape} is not in what is masked");
        assert!(!after.contains(&shape), "{shape} survives");
    }
    assert!(!after.contains("/serial: 7\n"), "a short serial number is masked where it stands");
    assert!(after.contains("/sys/z/serial: 0x00000000\n"), "no number names nobody");
    assert!(after.contains("60/08:00:00:00:00/00:00:00:00:00/40"), "a command is no address");
}

#[test]
fn one_value_gets_one_placeholder_of_its_length_everywhere() {
    let bundle = masked();
    let udev = bundle.snapshot.text(Path::new("/run/udev/data/b8:0")).unwrap();
    let line = |name: &str| udev.lines().find_map(|l| l.strip_prefix(name)).unwrap().to_owned();
    let serial = line("E:ID_SERIAL_SHORT=");
    assert_eq!(serial.len(), SERIAL.len());
    assert_ne!(serial, SERIAL);
    assert_eq!(
        bundle.fields("target").next().unwrap(),
        format!("/dev/disk/by-id/ata-WDC_{serial}")
    );
    let page = bundle.snapshot.read(Path::new("/sys/d/vpd_pg80")).unwrap();
    assert_eq!(&page[4..], format!("{serial:>20}").as_bytes());
    let link = format!("/dev/disk/by-id/ata-WDC_{serial}-part1");
    assert_eq!(bundle.snapshot.link(Path::new(&link)), Ok(PathBuf::from("../../sda1")));
    let id = bundle.snapshot.text(Path::new("/sys/d/ata1/link1/dev1.0/ata_device/dev1.0/id"));
    let words: Vec<u16> =
        id.unwrap().split_whitespace().map(|w| u16::from_str_radix(w, 16).unwrap()).collect();
    let told: Vec<u8> = words[10..20].iter().flat_map(|w| w.to_be_bytes()).collect();
    assert_eq!(told, format!("{serial:>20}").as_bytes());
    let sum = words.iter().flat_map(|w| w.to_le_bytes()).fold(0u8, u8::wrapping_add);
    assert_eq!(sum, 0, "the checksum still holds");
    let name: String = words[108..112].iter().map(|w| format!("{w:04x}")).collect();
    assert_eq!(line("E:ID_WWN="), format!("0x{name}"));
    assert_eq!(bundle.snapshot.text(Path::new("/sys/d/wwid")), Ok(format!("naa.{name}")));
}

#[test]
fn a_serial_number_of_hexadecimal_digits_gets_one_placeholder_too() {
    // Such a number was masked as digits in text and as letters in IDENTIFY data.
    let serial = "19150C1234AB";
    let bundle = Mask::new(KEY).bundle(&drive_of(serial));
    let udev = bundle.snapshot.text(Path::new("/run/udev/data/b8:0")).unwrap();
    let told = udev.lines().find_map(|l| l.strip_prefix("E:ID_SERIAL_SHORT=")).unwrap();
    assert!(told.len() == serial.len() && !told.eq_ignore_ascii_case(serial));
    let page = bundle.snapshot.read(Path::new("/sys/d/vpd_pg89")).unwrap();
    let words = page[60 + 20..60 + 40].chunks(2).flat_map(|w| [w[1], w[0]]);
    assert_eq!(String::from_utf8(words.collect()).unwrap(), format!("{told:>20}"));
    assert!(!text_of(&bundle).to_lowercase().contains(&serial.to_lowercase()));
}

#[test]
fn the_key_decides_the_placeholders() {
    assert_eq!(text_of(&masked()), text_of(&masked()));
    let other = Mask::new(*b"another key here").bundle(&drive());
    assert_ne!(text_of(&other), text_of(&masked()));
}

#[test]
fn the_number_of_a_device_in_what_lspci_printed_is_masked() {
    let mut snapshot = Snapshot::new();
    let line = "\tCapabilities: [140 v1] Device Serial Number 52-54-00-ff-fe-ab-cd-ef\n";
    let text = format!("02:00.0 Ethernet controller [0200]: X [8086:10d3]\n{line}");
    snapshot.put_file(Path::new(crate::LSPCI), text.clone());
    let masked = Mask::new(KEY).bundle(&Bundle { snapshot, ..Bundle::default() });
    let shown = masked.snapshot.text(Path::new(crate::LSPCI)).unwrap();
    assert!(!shown.contains("ab-cd-ef") && shown.contains("[8086:10d3]"), "{shown}");
    assert_eq!(shown.len(), text.trim().len());
}

use super::*;
use proptest::prelude::*;

/// What hdparm 9.65 printed when it was started three times on a loop device.
const THRICE: &str = include_str!("../../tests/data/hdparm.txt");
/// Two devices in one go, the second small and fast.
const BOTH: &str = "\n/dev/sda:\n Timing cached reads:   7864 MB in  2.00 seconds = 3935.41 \
                    MB/sec\n \
                    Timing buffered disk reads: 204 MB in  3.00 seconds =  67.98 MB/sec\n\n\
                    /dev/mmcblk0:\n Timing buffered disk reads:   2 MB in  5.20 seconds = 393.85 \
                    kB/sec\n\n/dev/vda:\n Timing buffered disk reads:  98 MB in  0.07 seconds = \
                    1378.55 MB/sec\n";

fn get(run: &RunValues, metric: &str) -> Option<f64> {
    run.groups.first()?.value(metric).map(|v| v.value)
}

#[test]
fn what_hdparm_printed_is_a_run_for_each_time_it_was_started() {
    let devices = read(THRICE, "f").unwrap();
    let [(name, runs)] = devices.as_slice() else { panic!("{devices:?}") };
    assert_eq!((name.as_str(), runs.len()), ("/dev/loop0", 3));
    assert_eq!(get(&runs[0], "cached.read_bytes_per_s"), Some(12576.38 * 1048576.0));
    assert_eq!(get(&runs[1], "device.read_bytes_per_s"), Some(107.09 * 1048576.0));
    assert_eq!(runs[2].groups[0].name, "hdparm --direct");
    assert_eq!(get(&runs[2], "device.read_bytes_per_s"), Some(745.86 * 1048576.0));
    assert_eq!(runs[1].name, "f, line 5");
}

#[test]
fn each_device_is_a_configuration_and_a_timing_that_was_over_too_soon_has_no_number() {
    let devices = read(BOTH, "f").unwrap();
    let names: Vec<&str> = devices.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["/dev/sda", "/dev/mmcblk0", "/dev/vda"]);
    assert_eq!(devices[0].1[0].groups[0].values.len(), 2);
    assert_eq!(get(&devices[1].1[0], "device.read_bytes_per_s"), Some(393.85 * 1024.0));
    let fast = &devices[2].1[0];
    assert_eq!(get(fast, "device.read_bytes_per_s"), None);
    assert_eq!(fast.left_out, ["device reads (-t): over in less than half a second"]);
}

#[test]
fn a_timing_that_is_cut_short_or_of_no_device_is_refused_by_its_line() {
    let cut = THRICE.replace("= 107.09 MB/sec", "=");
    assert!(read(&cut, "f").unwrap_err().to_string().starts_with("line 6: device is"), "{cut}");
    let bare = "Timing cached reads: 1 MB in 2.00 seconds = 1.00 MB/sec";
    assert!(read(bare, "f").unwrap_err().to_string().contains("its device before it"));
    assert!(matches!(read("/dev/sda:\n readonly = 0 (off)\n", "f"), Err(FormatError::Unknown)));
}

proptest! {
    #[test]
    fn no_damage_makes_the_reader_panic(at in 0..BOTH.len(), text in ".{0,6}", cut in 0..9usize) {
        let (head, tail) = BOTH.split_at(at);
        let damaged = format!("{head}{text}{}", &tail[cut.min(tail.len())..]);
        for (_, runs) in read(&damaged, "f").unwrap_or_default() {
            for value in runs.iter().flat_map(|r| &r.groups).flat_map(|g| &g.values) {
                prop_assert!(value.value.is_finite() && value.value >= 0.0);
            }
        }
    }
}

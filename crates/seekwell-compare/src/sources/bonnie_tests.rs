use super::*;
use proptest::prelude::*;

/// The line of the published piix run.
const PIIX: &str = "1.96,1.96,kvm,1,1252886317,4G,,439,99,52686,15,27168,5,2039,99,62782,4,228.9,3,\
384,,,,,17299,43,379058,99,777,1,24781,49,522877,100,579,1,48125us,1645ms,1545ms,16144us,137ms,\
863ms,1773ms,169us,18519ms,1403ms,14us,14935ms";

fn get(run: &RunValues, metric: &str) -> f64 {
    run.groups[0].value(metric).unwrap_or_else(|| panic!("no {metric}")).value
}

#[test]
fn every_figure_of_a_published_line_is_read_into_its_place() {
    let run = &read(PIIX, "piix.csv").unwrap()[0];
    assert_eq!(run.groups[0].values.len(), 36);
    assert_eq!(get(run, "putc.rate_bytes_per_s"), 439.0 * 1024.0);
    assert_eq!(get(run, "get_block.rate_bytes_per_s"), 62782.0 * 1024.0);
    assert_eq!(get(run, "seeks.requests_per_s"), 228.9);
    assert_eq!(get(run, "seeks.cpu_percent"), 3.0);
    assert_eq!(get(run, "seq_create.files_per_s"), 17299.0);
    assert_eq!(get(run, "ran_del.files_per_s"), 579.0);
    assert_eq!(get(run, "putc.latency_ns_max"), 48_125e3);
    assert_eq!(get(run, "ran_stat.latency_ns_max"), 14e3);
    assert_eq!(get(run, "ran_del.latency_ns_max"), 14_935e6);
    let identity = &run.groups[0].identity;
    assert_eq!(identity["file_size_bytes"], (4_u64 << 30).to_string());
    assert_eq!((identity["num_files"].as_str(), identity["concurrency"].as_str()), ("384", "1"));
    assert_eq!(run.about["machine"], "kvm");
}

#[test]
fn the_format_of_today_has_its_two_more_fields_in_the_middle() {
    let new = PIIX.replacen("1.96,1.96,", "1.98,2.00a,", 1).replacen("4G,,", "4G,,8192,5,", 1);
    let run = &read(&new, "f").unwrap()[0];
    assert_eq!(run.groups[0].identity["seek_processes"], "5");
    assert_eq!(get(run, "ran_del.files_per_s"), 579.0);
    assert_eq!(run.about["bonnie++ version"], "2.00a");
    let older = read(&PIIX.replacen("1.96,", "1.97,", 1), "f").unwrap();
    assert_eq!(older[0].groups, read(PIIX, "f").unwrap()[0].groups);
}

/// Lines that bonnie++ 2.00a wrote: small files only, in three directories, and links.
const REAL: &str = "\
1.98,2.00a,m,1,1795253098,,,,,,,,,,,,,,,,,1,5000,5000,,3,67,0,+++++,+++,1306,0,+++++,+++,+++++,+++,\
+++++,+++,,,,,,,32069us,211us,5904us,479us,25us,38us
1.98,2.00a,a b,1,1795257496,8M,,2000,3,438,20,+++++,+++,+++++,+++,598,19,+++++,+++,+++++,+++,1,\
link,,,,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,58243us,34us,20021us,34976us,\
1us,20us,22us,51us,3284us,28062us,3us,10540us
";

#[test]
fn what_bonnie_2_00_writes_is_read_into_its_places() {
    let runs = read(REAL, "f").unwrap();
    let identity = &runs[0].groups[0].identity;
    assert_eq!((identity["num_dirs"].as_str(), identity.get("file_chunk")), ("3", None));
    assert_eq!(identity.get("file_size_bytes"), None);
    assert_eq!(get(&runs[0], "seq_create.files_per_s"), 67.0);
    assert_eq!(get(&runs[0], "seq_del.files_per_s"), 1306.0);
    assert_eq!(get(&runs[0], "seq_create.latency_ns_max"), 32_069e3);
    assert_eq!(runs[1].groups[0].identity["max_size"], "link");
    assert_eq!(runs[1].groups[0].identity["seek_processes"], "3");
    assert_eq!(get(&runs[1], "putc.rate_bytes_per_s"), 438.0 * 1024.0);
    let ours = REAL.replace(",5000,5000,,3,", ",5000,5000,3,4096,");
    let identity = read(&ours, "f").unwrap().remove(0).groups.remove(0).identity;
    assert_eq!((identity["num_dirs"].as_str(), identity["file_chunk"].as_str()), ("3", "4096"));
}

#[test]
fn a_test_that_was_too_fast_has_no_number_and_is_named() {
    let fast = PIIX.replace("379058,99", "+++++,+++").replace("169us", "");
    let run = &read(&fast, "f").unwrap()[0];
    assert!(run.groups[0].values.iter().all(|v| !v.metric.starts_with("seq_stat")));
    assert_eq!(run.left_out, ["sequential read (stat): over in less than half a second"]);
}

#[test]
fn comments_and_the_printed_table_around_a_line_are_passed_over() {
    let text = format!("# made by hand\nVersion  1.96  ------\nkvm 4G 439 99\n{PIIX}\r\n\n{PIIX}");
    let runs = read(&text, "f").unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].name, "f, line 4");
}

#[test]
fn a_line_cut_short_is_refused_with_what_it_lacks() {
    let short = PIIX.rsplit_once(',').unwrap().0;
    let error = read(short, "f").unwrap_err().to_string();
    assert_eq!(error, "line 1 has 47 fields; format 1.96 has 48: is it cut short?");
    let cut = &PIIX[..PIIX.len() - 3];
    assert!(read(cut, "f").unwrap_err().to_string().contains("1645ms"), "a unit cut off");
}

#[test]
fn what_is_no_number_or_no_known_version_is_refused_by_name() {
    let bad = PIIX.replace("52686", "NaN");
    assert!(matches!(read(&bad, "f"), Err(FormatError::Value { .. })));
    let error = read(&PIIX.replace("1.96,1.96", "2.7,2.7"), "f").unwrap_err();
    assert!(matches!(error, FormatError::Version { .. }), "{error}");
    assert!(matches!(read("kvm,4G,439,99", "f"), Err(FormatError::Unknown)));
    let many = format!("{PIIX}\n").repeat(MAX_LINES + 1);
    assert!(matches!(read(&many, "f"), Err(FormatError::TooMany { .. })));
}

#[test]
fn sizes_are_one_size_however_they_are_written() {
    assert_eq!(file_size("4G"), Some(4 << 30));
    assert_eq!(file_size("4096M"), file_size("4G"));
    assert_eq!(file_size("4096"), file_size("4G"));
    assert_eq!(file_size("99999999999999999999G"), None);
    assert_eq!(file_size("18446744073709551615T"), None);
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic_and_every_number_is_finite(
        at in 0..48usize, text in "[0-9+.a-z,-]{0,12}", version in "1\\.9[5-9]"
    ) {
        let mut fields: Vec<&str> = PIIX.split(',').collect();
        fields[0] = &version;
        fields[at] = &text;
        if let Ok(runs) = read(&fields.join(","), "f") {
            for value in runs.iter().flat_map(|r| &r.groups[0].values) {
                prop_assert!(value.value.is_finite() && value.value >= 0.0);
            }
        }
    }
}

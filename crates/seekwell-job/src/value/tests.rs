use super::*;
use crate::job::{BlockShare, PatternPart};
use proptest::prelude::*;

const FIO: Reading = Reading { compatible: true, arithmetic: false };
const SI: Reading = Reading { compatible: false, arithmetic: false };
const KEYWORD: Reading = Reading { compatible: true, arithmetic: true };

#[test]
fn units_are_binary_unless_kb_base_says_otherwise() {
    for (text, value) in [("4k", 4096), ("4K", 4096), ("4kb", 4096), ("4ki", 4000), ("4KiB", 4000)]
    {
        assert_eq!(number(text, FIO), Ok(value), "{text}");
    }
    for (text, value) in [("4k", 4000), ("4kB", 4000), ("4ki", 4096), ("4KiB", 4096)] {
        assert_eq!(number(text, SI), Ok(value), "{text}");
    }
    assert_eq!(number("1t", FIO), Ok(1 << 40));
    assert_eq!(number("2P", FIO), Ok(2 << 50));
    assert_eq!(number("4096b", FIO), Ok(4096));
    assert_eq!(number("1.5k", FIO), Ok(1536));
    assert_eq!(number("0x1000", FIO), Ok(4096));
}

#[test]
fn a_number_is_taken_whole_or_refused() {
    for text in ["", "k", "4kx", "1.5", "4 096", "-1", "8e", "0x", "9223372036854775808", "9000p"] {
        assert_eq!(number(text, FIO), Err(NUMBER), "{text}");
    }
    assert_eq!(signed("-8k", FIO), Ok(-8192));
}

#[test]
fn arithmetic_needs_parentheses_or_a_keyword() {
    assert_eq!(number("(4*1k)", FIO), Ok(4096));
    assert_eq!(number("(2+3)*2", FIO), Ok(10));
    assert_eq!(number("(2^10-25)%100/7", FIO), Ok(14));
    assert_eq!(number("4*1024", FIO), Err(NUMBER));
    assert_eq!(number("4*1024", KEYWORD), Ok(4096));
    for text in ["(1/0)", "(1", "(1))", "(9^99)", "(0-1)", "()", "(1+)"] {
        assert_eq!(number(text, FIO), Err(NUMBER), "{text}");
    }
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(number(&deep, FIO), Err(NUMBER));
}

#[test]
fn a_time_without_unit_counts_what_its_option_says() {
    let at = |text, bare| time(text, bare, FIO).map(|t| t.0);
    assert_eq!(at("10", Bare::Seconds), Ok(10_000_000_000));
    assert_eq!(at("10", Bare::Micros), Ok(10_000));
    assert_eq!(at("(10)", Bare::Seconds), Ok(10_000), "microseconds in arithmetic");
    for (text, ns) in
        [("3us", 3_000), ("3ms", 3_000_000), ("2m", 120_000_000_000), ("1H", 3_600_000_000_000)]
    {
        assert_eq!(at(text, Bare::Seconds), Ok(ns), "{text}");
    }
    assert_eq!(at("3 weeks", Bare::Seconds), Err(TIME));
    assert_eq!(at("999999999999d", Bare::Seconds), Err(TIME));
}

#[test]
fn a_value_that_no_comma_ends_holds_for_what_follows() {
    let three = |text| cells(text).map(|c| [c.read, c.write, c.trim]);
    assert_eq!(three("4k"), Ok([Some("4k"); 3]));
    assert_eq!(three("4k,8k"), Ok([Some("4k"), Some("8k"), Some("8k")]));
    assert_eq!(three("4k,"), Ok([Some("4k"), None, None]));
    assert_eq!(three(",8k"), Ok([None, Some("8k"), Some("8k")]));
    assert_eq!(three(",8k,"), Ok([None, Some("8k"), None]));
    assert!(three("1,2,3,4").is_err());
    assert_eq!(overlay("4k", ",8k,").as_deref(), Some("4k,8k,4k"));
    assert_eq!(overlay("4k", "8k").as_deref(), Some("8k"));
}

#[test]
fn shares_that_are_left_out_divide_what_is_left() {
    let split = |text| bssplit(text, FIO).map(|by| by.read);
    let share = |bytes, percent| BlockShare { bytes, percent };
    assert_eq!(split("4k/60:64k/40"), Ok(vec![share(4096, 60), share(65536, 40)]));
    assert_eq!(split("4k/50:1k:32k"), Ok(vec![share(4096, 50), share(1024, 25), share(32768, 25)]));
    assert_eq!(split("4k:1k:2k"), Ok(vec![share(4096, 33), share(1024, 33), share(2048, 34)]));
    assert_eq!(split("8k"), Ok(vec![share(8192, 100)]));
    for text in ["4k/50:8k/60", "4k/50", "0/100", "4k/x", "4k/100:8k"] {
        assert!(split(text).is_err(), "{text}");
    }
    let by = bssplit("2k/100,4k/50:8k/50", FIO).unwrap();
    assert_eq!((by.read.len(), by.write.len(), by.trim.len()), (1, 2, 2));
}

#[test]
fn zones_need_all_requests_and_at_most_the_region() {
    let read = zones("60/10:30/20:8/30:2/40", false, FIO).unwrap().read;
    assert_eq!(read.iter().map(|z| z.size_percent).collect::<Vec<_>>(), [10, 20, 30, 40]);
    let bytes = zones("90/10g:10/1t", true, FIO).unwrap().write;
    assert_eq!(bytes[1].size_bytes, 1 << 40);
    assert!(zones("60/10:30/90", false, FIO).is_err());
    assert!(zones("60/70:40/70", false, FIO).is_err());
}

#[test]
fn patterns_are_bytes_in_the_order_they_are_written() {
    let bytes = |text| pattern(text, true, |_| Some(b"file".to_vec())).map(|p| p.parts);
    assert_eq!(bytes("0xdeadbeef"), Ok(vec![PatternPart::Bytes(vec![0xde, 0xad, 0xbe, 0xef])]));
    assert_eq!(bytes("0xabc"), Ok(vec![PatternPart::Bytes(vec![0x0a, 0xbc])]));
    assert_eq!(
        bytes("\"abcd\"-12'x'"),
        Ok(vec![PatternPart::Bytes(b"abcd\xf4\xff\xff\xfffile".to_vec())])
    );
    assert_eq!(
        bytes("0xff%o\"a\""),
        Ok(vec![
            PatternPart::Bytes(vec![0xff]),
            PatternPart::Offset,
            PatternPart::Bytes(vec![b'a'])
        ])
    );
    for text in ["", "\"open", "zz", "0x", "99999999999"] {
        assert!(bytes(text).is_err(), "{text}");
    }
    assert!(pattern("%o", false, |_| None).is_err(), "offsets need headers");
}

#[test]
fn names_end_at_colons_that_are_not_escaped() {
    assert_eq!(names("/dev/sda:/dev/sdb"), ["/dev/sda", "/dev/sdb"]);
    assert_eq!(names("/dev/dsk/foo@3,0\\:c:b"), ["/dev/dsk/foo@3,0:c", "b"]);
    assert_eq!(names(" a::b "), ["a", "b"]);
    assert_eq!(cpus("0,2-4"), Ok(vec![0, 2, 3, 4]));
    assert!(cpus("0-99999999").is_err());
}

proptest! {
    #[test]
    fn a_number_written_in_any_unit_is_the_same(n in 0_u64..1000, power in 0_usize..5) {
        let text = format!("{n}{}", ["", "k", "M", "g", "T"][power]);
        prop_assert_eq!(number(&text, FIO), Ok(n << (10 * power)));
    }

    #[test]
    fn nothing_written_makes_a_value_panic(text in ".{0,60}") {
        let _ = (number(&text, KEYWORD), time(&text, Bare::Micros, KEYWORD));
        let _ = (bssplit(&text, FIO), zones(&text, true, FIO), names(&text));
        let _ = (amount(&text, SI), cpus(&text), overlay(&text, &text));
        let _ = pattern(&text, true, |_| None);
    }

    #[test]
    fn shares_of_a_split_add_up_to_a_hundred(
        sizes in prop::collection::vec(1_u32..1 << 20, 1..50),
    ) {
        let text: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let split = bssplit(&text.join(":"), FIO).unwrap().read;
        prop_assert_eq!(split.iter().map(|s| u32::from(s.percent)).sum::<u32>(), 100);
    }
}

//! Files that mean harm: bounded memory and time, and a clear error.

use super::error;
use crate::layout::There;
use crate::{Surroundings, parse_files, parse_text};
use proptest::prelude::*;
use std::path::Path;

#[test]
fn a_megabyte_of_brackets_is_one_error() {
    let said = error(&"[".repeat(1 << 20));
    assert_eq!(said, "test.fio:1: bytes in a line: 1048576 are more than 8192, as in fio");
    let said = error(&"[\n".repeat(1 << 19));
    assert_eq!(said, "test.fio:1: found `[`; needed: ] at the end");
    let said = error(&"[a]\n".repeat(1 << 18));
    assert!(said.contains("jobs with their clones: 4097 are more than 4096"), "{said}");
    let said = error(&"#".repeat((1 << 20) + 1));
    assert!(said.contains("bytes of job files"), "{said}");
}

#[test]
fn options_of_global_cannot_be_multiplied_without_bound() {
    let long = "x".repeat(8000);
    let mut text = String::from("[global]\n");
    for name in ["description", "filename", "directory", "wait_for", "write_bw_log"] {
        text += &format!("{name}={long}\n");
    }
    text += &"[a]\n".repeat(4000);
    let said = error(&text);
    assert!(said.contains("bytes of options") && said.contains("counted for each job"), "{said}");
}

#[test]
fn huge_numbers_are_refused_with_the_reason() {
    let said = error("[a]\nnumjobs=100000\n");
    assert!(said.contains("each is a thread"), "{said}");
    let said = error("[a]\nnrfiles=1000\nnumjobs=4000\n");
    assert!(said.contains("files of all jobs and clones"), "{said}");
    for text in ["size=99999999999999999999", "bs=1t", "runtime=999999999999d", "rw=read:9999999p"]
    {
        assert!(error(&format!("[a]\n{text}\n")).contains("needed"), "{text}");
    }
}

#[test]
fn variables_cannot_grow_a_value_without_bound() {
    let mut around = Surroundings::fixed();
    around.variables.insert("V".to_owned(), "y".repeat(5000));
    let text = format!("[a]\ndescription={}\n", "${V}".repeat(1000));
    let said = parse_text(&text, Path::new("x"), &around).unwrap_err().to_string();
    assert!(said.contains("at most 8192 bytes"), "{said}");
}

#[test]
fn includes_are_bounded_in_depth_and_bytes_and_only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    for n in 0..20 {
        std::fs::write(file(&n.to_string()), format!("include {}\n", n + 1)).unwrap();
    }
    std::fs::write(file("20"), "bs=4k\n").unwrap();
    std::fs::write(file("deep"), "[a]\ninclude 0\n").unwrap();
    std::fs::write(file("long"), "# 1234567890\n".repeat(1000)).unwrap();
    std::fs::write(file("wide"), format!("[a]\n{}", "include long\n".repeat(1000))).unwrap();
    std::fs::write(file("zero"), "[a]\ninclude /dev/zero\n").unwrap();
    for (name, why) in [
        ("deep", "more than 16 files within one another"),
        ("wide", "included files counted each time"),
        ("zero", "not a regular file"),
    ] {
        let said = parse_files(&[file(name)], &Surroundings::here()).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(
        text in "(\\[[a-z]{0,3}\\]\n|[a-z_]{1,9}(=[ -~]{0,12})?\n){0,12}",
    ) {
        let _ = super::read(&text);
    }

    #[test]
    fn no_value_makes_an_option_panic(n in 0_usize..400, value in "[ -~]{0,16}") {
        let specs: Vec<_> = crate::options::specs().collect();
        let text = format!("[a]\nrw=randrw\n{}={value}\n", specs[n % specs.len()].name);
        if let Ok(file) = super::read(&text) {
            let layout = super::laid_out(&file.jobs, There::File, 1 << 40);
            prop_assert!(!crate::show(&file, layout.as_ref().ok()).is_empty());
        }
    }
}

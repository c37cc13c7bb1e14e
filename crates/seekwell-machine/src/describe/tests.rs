use super::*;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    rpm: u32,
    seek_ms: Vec<f64>,
    #[serde(default)]
    mode: Option<Mode>,
    inner: Inner,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    WriteBack,
    WriteThrough,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    heads: u8,
}

struct Shelf(BTreeMap<&'static str, &'static str>);

impl Parts for Shelf {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|text| (*text).to_owned())
    }
    fn names(&self) -> Vec<String> {
        self.0.keys().map(|name| (*name).to_owned()).collect()
    }
}

fn empty() -> Shelf {
    Shelf(BTreeMap::new())
}

fn shelf() -> Shelf {
    Shelf(BTreeMap::from([
        ("atlas", "title = \"Atlas\"\nfrom = \"datasheet\"\nrpm = 15_000\n[inner]\nheads = 4\n"),
        ("ssd", "title = \"SSD\"\nfrom = \"assumed\"\nkind = \"ssd\"\nchannels = 8\n"),
        ("snake", "part = \"tail\"\n"),
        ("tail", "part = \"snake\"\n"),
    ]))
}

fn drive(text: &str) -> Result<Drive, DescribeError> {
    let description = Description::read("m.toml", text, &shelf())?;
    read(description.root().get("drive").expect("there is a drive"), "drive")
}

const GOOD: &str = "[drive]\nrpm = 7200\nseek_ms = [1, 8.5]\nmode = \"write-back\"\n\
                    [drive.inner]\nheads = 2\n";

#[test]
fn values_are_read_into_what_serde_describes() {
    let expected = Drive {
        rpm: 7200,
        seek_ms: vec![1.0, 8.5],
        mode: Some(Mode::WriteBack),
        inner: Inner { heads: 2 },
    };
    assert_eq!(drive(GOOD), Ok(expected));
}

#[test]
fn what_does_not_fit_is_named_with_line_and_key() {
    let told = |from: &str, to: &str| {
        drive(&GOOD.replace(from, to)).expect_err("does not fit").to_string()
    };
    assert_eq!(
        told("rpm", "rpn"),
        "m.toml:2: drive.rpn: no such key (did you mean `rpm`?); known here: rpm, seek_ms, mode, \
         inner"
    );
    assert_eq!(
        told("heads = 2", "heads = -2"),
        "m.toml:6: drive.inner.heads: integer `-2`, where a whole number from 0 to 255 \
         is needed"
    );
    assert_eq!(told("heads = 2", ""), "m.toml:5: drive.inner: missing: heads");
    assert_eq!(
        told("[1, 8.5]", "[1, \"far\"]"),
        "m.toml:3: drive.seek_ms[1]: string \"far\", where a number is needed"
    );
    assert_eq!(
        told("write-back", "writeback"),
        "m.toml:4: drive.mode: `writeback` is not one of write-back, write-through"
    );
    assert!(told("rpm = 7200", "rpm = ").starts_with("m.toml:2: "), "syntax");
    assert!(told("7200", "1e400").contains("drive.rpm"), "no infinity");
    assert!(told("7200", "99999999999999999999").contains("drive.rpm"), "no overflow");
}

#[test]
fn a_part_fills_what_the_table_does_not_say() {
    let text = "[drive]\npart = \"atlas\"\nseek_ms = { value = [3.4], from = \"measured\" }\n\
                [drive.inner]\nheads = { value = 8, from = \"fitted\", on = [\"R3 a\"] }\n";
    let made = drive(text).expect("all is there");
    assert_eq!((made.rpm, made.inner.heads, made.seek_ms), (15_000, 8, vec![3.4]));
    let description = Description::read("m.toml", text, &shelf()).expect("read");
    let parameters = description.parameters().expect("all say where they are from");
    let told: Vec<String> = parameters
        .iter()
        .map(|p| {
            format!(
                "{} {} {} {:?} {}",
                p.key,
                p.value,
                p.origin.source.name(),
                p.origin.on,
                p.place
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "drive.rpm 15000 datasheet [] parts/atlas.toml:3",
            "drive.inner.heads 8 fitted [\"R3 a\"] m.toml:5",
            "drive.seek_ms [3.4] measured [] m.toml:3",
        ]
    );
}

#[test]
fn parts_that_are_not_there_or_contain_themselves_are_refused() {
    let error = drive("[drive]\npart = \"atlsa\"\n").expect_err("not there").to_string();
    assert_eq!(error, "m.toml:2: drive.part: there is no part `atlsa` (did you mean `atlas`?)");
    let error = drive("[drive]\npart = \"snake\"\n").expect_err("a cycle").to_string();
    assert!(error.contains("contains itself: snake → tail → snake"), "{error}");
}

#[test]
fn a_value_that_does_not_say_where_it_is_from_is_refused() {
    let description = Description::read("m.toml", GOOD, &empty()).expect("it is TOML");
    let error = description.parameters().expect_err("no source").to_string();
    assert!(error.starts_with("m.toml:2: drive.rpm: does not say where it is from"), "{error}");
    let error =
        Description::read("m.toml", "[drive]\nrpm = { value = 1, from = \"hearsay\" }", &empty());
    let error = error.expect_err("no such source").to_string();
    assert!(
        error.contains("`hearsay` is not one of datasheet, measured, fitted, assumed"),
        "{error}"
    );
    let fitted = "[drive]\nrpm = { value = 1, from = \"fitted\" }";
    assert!(Description::read("m.toml", fitted, &empty()).is_err(), "fitted on what?");
}

#[test]
fn a_setting_replaces_a_value_and_says_that_it_was_asked_for() {
    let mut description = Description::read("m.toml", GOOD, &shelf()).expect("it is TOML");
    description.set("drive.inner.heads", "16", &shelf()).expect("it is there");
    description.set("drive.mode", "write-through", &shelf()).expect("text needs no quotes");
    let made: Drive = read(description.root().get("drive").expect("there"), "drive").expect("fits");
    assert_eq!((made.inner.heads, made.mode), (16, Some(Mode::WriteThrough)));
    for bad in ["", "drive..x", "drive.rpm.x"] {
        assert!(description.set(bad, "1", &shelf()).is_err(), "{bad}");
    }
    description.set("drive.part", "atlas", &shelf()).expect("another drive");
    assert_eq!(
        description.root().get("drive").and_then(|d| d.get("rpm")).map(Node::kind),
        Some("a whole number")
    );
    assert!(description.root().get("drive").and_then(|d| d.get("mode")).is_none(), "all of it");
}

/// Story: `--set controller.kind=ide` kept the keys of AHCI: "controller.slots: no such key".
#[test]
fn another_kind_brings_its_defaults_and_leaves_the_keys_of_the_old_one() {
    let text = "[drive]\nkind = \"hdd\"\nrpm = 7200\ncount = 4\nchannels = 2\n";
    let keys = |kind: &str| {
        let mut description = Description::read("m.toml", text, &shelf()).expect("it is TOML");
        description.set("drive.kind", kind, &shelf()).expect("it is a word");
        let drive = description.root().get("drive").expect("there").clone();
        drive.entries().iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys("ssd"), ["kind", "channels", "count"]);
    assert_eq!(keys("hdd"), ["kind", "rpm", "count", "channels"], "it is one already");
    assert_eq!(keys("atlas"), ["kind", "rpm", "count", "channels"], "a part, but no kind");
}

#[test]
fn tables_without_end_are_refused() {
    let deep = format!("a = {}1{}", "[".repeat(40), "]".repeat(40));
    assert!(matches!(
        Description::read("m.toml", &deep, &empty()).map_err(|e| e.problem),
        Err(Problem::TooDeep { .. } | Problem::Syntax { .. })
    ));
    let long = "a = 1\n".repeat(1 << 20);
    assert!(Description::read("m.toml", &long, &empty()).is_err());
}

proptest! {
    #[test]
    fn nothing_that_is_typed_breaks_the_reader(text in "[\\PC\n]{0,200}") {
        let _ = Description::read("m.toml", &text, &shelf());
        let mut description = Description::read("m.toml", GOOD, &shelf()).expect("good");
        let _ = description.set(&text, &text, &shelf());
        let _ = description.parameters();
    }
}

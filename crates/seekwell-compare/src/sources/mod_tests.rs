use super::*;
use proptest::prelude::*;
use seekwell_runs::Store;

const LINE: &str = "1.96,1.96,kvm,1,1252886317,4G,,439,99,52686,15,27168,5,2039,99,62782,4,228.9,3,\
384,,,,,17299,43,379058,99,777,1,24781,49,522877,100,579,1,48125us,1645ms,1545ms,16144us,137ms,\
863ms,1773ms,169us,18519ms,1403ms,14us,14935ms\n";
const FIO: &str = r#"{"fio version":"fio-3.33","jobs":[{"jobname":"x","read":{"iops":5,
"bw_bytes":20480,"runtime":1000,"total_ios":5}}]}"#;
const PTS: &str = "<?xml version=\"1.0\"?><PhoronixTestSuite><System><Identifier>IDE</Identifier>\
</System><System><Identifier>AHCI</Identifier></System><Result><Identifier>pts/x-1</Identifier>\
<Title>X</Title><Scale>MB/s</Scale><Proportion>HIB</Proportion><Data><Entry><Identifier>IDE\
</Identifier><Value>1</Value></Entry><Entry><Identifier>AHCI</Identifier><Value>2</Value></Entry>\
</Data></Result></PhoronixTestSuite>";

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        Self(dir)
    }

    fn side(&self, name: &str) -> Result<Side, SourceError> {
        side(&self.path(name), &Store::open(self.0.path().join("no runs")))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

#[test]
fn what_a_file_is_is_found_from_what_it_holds_and_not_from_its_name() {
    let folder = Folder::with(&[("a.xml", LINE), ("b.csv", FIO), ("c.json", PTS), ("d", "hello")]);
    assert_eq!(folder.side("a.xml").unwrap().source, SourceKind::BonnieCsv);
    assert_eq!(folder.side("b.csv").unwrap().source, SourceKind::Fio);
    let error = folder.side("c.json").unwrap_err();
    assert!(matches!(error, SourceError::SeveralConfigurations { .. }), "{error}");
    assert_eq!(folder.side("c.json#AHCI").unwrap().source, SourceKind::PhoronixXml);
    let error = folder.side("c.json#RAID").unwrap_err();
    assert!(error.to_string().contains("IDE, AHCI"), "{error}");
    let error = folder.side("d").unwrap_err();
    assert!(matches!(error, SourceError::Format { source: FormatError::Unknown, .. }), "{error}");
}

#[test]
fn several_files_or_a_folder_of_them_are_the_runs_of_one_side() {
    let folder = Folder::with(&[("1.json", FIO), ("2.json", FIO), ("3.csv", LINE)]);
    let both = format!("{},{}", folder.path("1.json"), folder.path("2.json"));
    let store = Store::open(folder.0.path().join("no runs"));
    let found = side(&both, &store).unwrap();
    assert_eq!((found.name.as_str(), found.runs.len()), ("1.json,2.json", 2));
    let error = folder.side("").unwrap_err();
    assert!(matches!(error, SourceError::MixedKinds { .. }), "{error}");
    std::fs::remove_file(folder.path("3.csv")).unwrap();
    std::fs::write(folder.path(".hidden"), "x").unwrap();
    assert_eq!(folder.side("").unwrap().runs.len(), 2);
}

#[test]
fn one_file_of_several_lines_or_systems_is_several_sides() {
    let folder = Folder::with(&[("two.csv", &LINE.repeat(2)), ("pts", PTS), ("one", LINE)]);
    let names = |file: &str| -> Option<Vec<String>> {
        let sides = sides_of_file(&folder.path(file)).unwrap()?;
        Some(sides.into_iter().map(|s| s.name).collect())
    };
    assert_eq!(names("two.csv").unwrap(), ["two.csv, line 1", "two.csv, line 2"]);
    assert_eq!(names("pts").unwrap(), ["IDE", "AHCI"]);
    assert_eq!(names("one"), None);
    std::fs::write(folder.path("many"), LINE.repeat(MAX_SIDES + 1)).unwrap();
    assert!(sides_of_file(&folder.path("many")).is_err());
    assert_eq!(names("missing"), None);
}

#[test]
fn what_is_not_there_not_a_file_empty_or_too_large_is_refused_without_waiting() {
    let folder = Folder::with(&[("empty", ""), ("binary", "\u{0}\u{1}")]);
    assert!(matches!(folder.side("missing"), Err(SourceError::NotFound { .. })));
    assert!(folder.side("empty").is_err() && folder.side("binary").is_err());
    std::fs::write(folder.path("latin1"), [0xff, 0xfe, 0x31]).unwrap();
    assert!(folder.side("latin1").is_err());
    let large = std::fs::File::create(folder.path("large")).unwrap();
    large.set_len(MAX_BYTES + 1).unwrap();
    let error = folder.side("large").unwrap_err();
    assert!(error.to_string().contains("larger than 65536 KiB"), "{error}");
    std::fs::remove_file(folder.path("large")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        folder.path("fifo"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let error = folder.side("fifo").unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn a_side_without_any_number_says_what_was_left_out() {
    let short = FIO.replace("1000", "100");
    let folder = Folder::with(&[("short.json", &short)]);
    match folder.side("short.json") {
        Ok(found) => {
            // CPU time is all that is left.
            let values: Vec<_> = found.runs[0].groups[0].values.iter().collect();
            assert!(values.iter().all(|v| v.metric == "cpu_percent"), "{values:?}");
            assert!(found.runs[0].left_out[0].contains("too short"));
        }
        Err(error) => panic!("{error}"),
    }
    let none = PTS.replace("<Value>1</Value>", "<Value>a,b</Value>");
    let folder = Folder::with(&[("pts", &none)]);
    assert!(matches!(folder.side("pts#IDE"), Err(SourceError::Empty { .. })));
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = contents(&bytes, "x");
    }
}

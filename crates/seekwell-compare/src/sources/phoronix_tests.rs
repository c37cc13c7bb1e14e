use super::*;
use proptest::prelude::*;

/// Written by hand after the schema of the suite's result files.
const FILE: &str = r#"<?xml version="1.0"?>
<PhoronixTestSuite>
  <Generated><Title>SATA modes</Title>
  <TestClient>Phoronix Test Suite v10.8.4</TestClient></Generated>
  <System>
    <Identifier>IDE</Identifier>
    <Hardware>Processor: Xeon E5620, Disk: 4 x ST250DM000, cold, Memory: 24GB</Hardware>
    <Software>OS: Debian 6, Kernel: 2.6.32 (x86_64)</Software>
    <TimeStamp>2012-01-01 10:00:00</TimeStamp>
  </System>
  <System><Identifier>AHCI &amp; ROM</Identifier><Software>Kernel: 2.6.32</Software></System>
  <Result>
    <Identifier>pts/sqlite-1.8.0</Identifier><Title>SQLite</Title>
    <AppVersion>3.7.3</AppVersion><Arguments></Arguments><Description>Timed insertions</Description>
    <Scale>Seconds</Scale><Proportion>LIB</Proportion><DisplayFormat>BAR_GRAPH</DisplayFormat>
    <Data>
      <Entry><Identifier>IDE</Identifier><Value>1708.55</Value>
        <RawString>1700.1:1708.5:1717.05</RawString></Entry>
      <Entry><Identifier>AHCI &#38; ROM</Identifier><Value>558.98</Value><RawString/></Entry>
    </Data>
  </Result>
  <Result>
    <Identifier>pts/tiobench-1.2.0</Identifier><Title>Threaded I/O</Title>
    <Description>64MB random write</Description><Scale>MB/s</Scale><Proportion>HIB</Proportion>
    <Data><Entry><Identifier>IDE</Identifier><Value>0.59</Value><RawString>0.58:0.6</RawString>
    </Entry></Data>
  </Result>
  <Result>
    <Identifier>pts/x-1</Identifier><Title>Over time</Title><Scale>MB/s</Scale>
    <Data><Entry><Identifier>IDE</Identifier><Value>1,2,3</Value></Entry></Data>
  </Result>
</PhoronixTestSuite>
"#;

#[test]
fn each_system_is_a_configuration_and_each_trial_a_run() {
    let systems = read(FILE, "c.xml").unwrap();
    let names: Vec<&str> = systems.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(names, ["IDE", "AHCI & ROM"]);
    let (ide, ahci) = (&systems[0].1, &systems[1].1);
    assert_eq!((ide.len(), ahci.len()), (3, 1));
    let insertions: Vec<f64> = ide.iter().map(|r| r.groups[0].values[0].value).collect();
    assert_eq!(insertions, [1700.1e9, 1708.5e9, 1717.05e9]);
    assert_eq!(ide[0].groups[1].values[0].value, 580_000.0, "MB/s in bytes a second");
    assert_eq!(ide[2].groups.len(), 1, "the second test had two trials only");
    assert_eq!(ahci[0].groups[0].values[0].value, 558.98e9);
    assert_eq!(ide[0].groups[0].values[0].better, Better::Lower);
    assert_eq!(ide[0].about["Disk"], "4 x ST250DM000, cold");
    assert_eq!(ide[0].about["Kernel"], "2.6.32 (x86_64)");
    assert_eq!(ide[0].left_out, ["Over time: \"1,2,3\" is not one number"]);
}

#[test]
fn another_version_of_a_profile_is_another_workload_of_the_same_name() {
    let other = FILE.replace("sqlite-1.8.0", "sqlite-2.0.0");
    let (a, b) = (read(FILE, "a").unwrap(), read(&other, "b").unwrap());
    let (a, b) = (&a[0].1[0].groups[0], &b[0].1[0].groups[0]);
    assert_eq!(a.name, b.name);
    assert_ne!(a.identity, b.identity);
}

#[test]
fn an_entity_bomb_is_refused_before_it_is_read() {
    let bomb = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE lolz [<!ENTITY a \"{}\">]>{FILE}",
        "x".repeat(100)
    );
    assert!(matches!(read(&bomb, "a"), Err(FormatError::DocumentType { .. })));
    let undefined = FILE.replace("&amp;", "&lol;");
    assert!(read(&undefined, "a").unwrap_err().to_string().contains("&lol; is not defined"));
}

#[test]
fn what_is_nested_too_deep_cut_short_or_another_document_is_refused() {
    let deep = format!("<PhoronixTestSuite>{}", "<a>".repeat(100_000));
    assert!(read(&deep, "a").unwrap_err().to_string().contains("inside each other"));
    let cut = &FILE[..FILE.find("</Entry>").unwrap()];
    let error = read(cut, "a").unwrap_err().to_string();
    assert!(error.contains("cut short") && error.contains("Entry"), "{error}");
    assert!(matches!(read("<html></html>", "a"), Err(FormatError::Unknown)));
    let bad = FILE.replace("1700.1:", "1700.1:fast:");
    assert!(matches!(read(&bad, "a"), Err(FormatError::Value { .. })));
    let many = FILE.replace("1700.1:", &"1:".repeat(MAX_TRIALS + 1));
    assert!(matches!(read(&many, "a"), Err(FormatError::TooMany { .. })));
    let long = FILE.replace("24GB", &"x".repeat(MAX_TEXT));
    assert!(read(&long, "a").unwrap_err().to_string().contains("bytes"));
    let many = "<System></System>".repeat(MAX_SYSTEMS + 1);
    let many = format!("<PhoronixTestSuite>{many}</PhoronixTestSuite>");
    assert!(matches!(read(&many, "a"), Err(FormatError::TooMany { .. })));
}

proptest! {
    #[test]
    fn no_damage_makes_the_reader_panic(
        at in 0..FILE.len(), text in "[<>&;/a-zA-Z:0-9]{0,8}", cut in 0..30usize
    ) {
        let end = (at + cut).min(FILE.len());
        let damaged = format!("{}{text}{}", &FILE[..at], &FILE[end..]);
        for (_, runs) in read(&damaged, "a").unwrap_or_default() {
            for value in runs.iter().flat_map(|r| &r.groups).flat_map(|g| &g.values) {
                prop_assert!(value.value.is_finite());
            }
        }
    }
}

//! Pages as the program writes them, of kept runs and of files.

use crate::common::{Place, run};
use base64::Engine as _;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// What a page holds.
pub fn data(page: &Path) -> Value {
    let page = std::fs::read_to_string(page).unwrap();
    let (_, after) = page.split_once("<template id=\"data\">").expect("data");
    let (text, _) = after.split_once("</template>").expect("an end of the data");
    let packed = base64::engine::general_purpose::STANDARD.decode(text).expect("base64");
    let mut json = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut json).expect("gzip");
    serde_json::from_str(&json).expect("JSON")
}

fn bench(home: &Path, place: &Place, label: &str, depth: &str) {
    let target = place.path().to_str().unwrap();
    let depth = format!("--iodepth={depth}");
    let args = ["bench", "--on", target, "--size=4m", "--runtime=600ms", "--engine=threads"];
    let ran = run(home, &[&args[..], &[&depth, "--direct=0", "--label", label]].concat());
    assert!(ran.status == 0 || ran.status == 4, "{}: {}", ran.status, ran.err);
}

#[test]
fn a_page_of_two_labels_holds_the_comparison_and_the_latencies_of_their_runs() {
    let Some(place) = Place::with_room(4 << 20) else { return };
    let home = tempfile::tempdir().unwrap();
    for label in ["before", "after", "before", "after"] {
        bench(home.path(), &place, label, "1");
    }
    let page = home.path().join("page.html");
    let args = ["compare", "before", "after", "-o", page.to_str().unwrap()];
    let ran = run(home.path(), &args).ends(0);
    assert!(ran.err.contains("page.html"), "{}", ran.err);
    let data = data(&page);
    assert_eq!(data["document"]["schema"], "seekwell/compare/1");
    let sheet = &data["sheets"][0];
    assert_eq!(sheet["names"], serde_json::json!(["before", "after"]));
    assert!(sheet["effects"].as_array().is_some_and(|effects| effects.len() > 3), "{sheet}");
    let lines = &sheet["shapes"][0]["lines"];
    for (line, label) in [(&lines[0], "before"), (&lines[1], "after")] {
        assert_eq!(line["label"], label);
        assert_eq!(line["repeats"].as_array().map(Vec::len), Some(2), "two runs of {label}");
    }
    let course = &sheet["course"];
    assert_eq!(
        (course["in_time"].as_bool(), course["points"][3]["side"].as_u64()),
        (Some(true), Some(1))
    );
    let sides: Vec<_> = (0..4).map(|i| course["points"][i]["side"].as_u64().unwrap()).collect();
    assert_eq!(sides, [0, 1, 0, 1], "in the order in which they were made");
}

#[test]
fn a_page_that_cannot_be_written_is_said_before_anything_else() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["compare", "a", "b", "-o", "/nonexistent/page.html"]);
    assert_eq!(ran.status, 3);
    assert!(ran.err.contains("/nonexistent/page.html"), "{}", ran.err);
}

#[test]
fn a_page_of_an_experiment_holds_its_document_and_can_be_made_again_when_it_is_over() {
    let home = tempfile::tempdir().unwrap();
    let page = home.path().join("page.html");
    let file = page.to_str().unwrap();
    let args = ["experiment", "--on", "null", "--aa", "--pairs", "--blocks=8", "--runtime=600ms"];
    let ran = run(home.path(), &[&args[..], &["--settle=0", "--json", "-o", file]].concat());
    let document = ran.json();
    let data = data(&page);
    assert_eq!(data["document"], document, "the page holds what was printed");
    let sheet = &data["sheets"][0];
    assert_eq!(sheet["course"]["points"].as_array().map(Vec::len), Some(16));
    assert_eq!(sheet["blocks"]["each"].as_array().map(Vec::len), Some(8));
    let sentence = document["conclusion"]["sentence"].as_str().expect("a conclusion");
    let shown = sheet["verdict"][0].as_str().expect("a verdict");
    assert!(shown.to_lowercase().starts_with(&sentence.to_lowercase()), "{shown} {sentence}");
    std::fs::remove_file(&page).unwrap();
    let again = run(home.path(), &["experiment", "resume", "last", "-o", file]);
    assert_eq!(again.status, ran.status, "{}", again.err);
    assert!(page.is_file());
}

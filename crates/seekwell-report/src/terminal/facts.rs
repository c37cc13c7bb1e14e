//! Every fact of an inspection with the place it was read from, for `seekwell inspect --verbose`.

use super::page::{DIM, Page, Style};
use crate::text::clean;
use anstyle::Style as Paint;
use seekwell_inspect::Inspection;
use serde_json::Value;

/// One paragraph per fact, named by its key in the document: `device.queue.scheduler`. At most
/// `width` columns wide; ends with a line end.
pub fn facts(inspection: &Inspection, width: usize, style: Style) -> String {
    let mut found = Vec::new();
    // What cannot be serialised has no facts: the document is plain data, so this does not happen.
    walk("", &serde_json::to_value(inspection).unwrap_or_default(), &mut found);
    let mut page = Page::new(width, style);
    page.heading("Every fact and where it was read");
    for (name, value, from) in found {
        page.text(&format!("{name}: {value}"), "", "    ", Paint::new());
        page.text(&from, "  ", "    ", DIM);
    }
    page.finish()
}

/// Collects objects that are facts: those with a `value` and a `from`.
fn walk(name: &str, value: &Value, found: &mut Vec<(String, String, String)>) {
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(map) => match (map.get("value"), map.get("from").and_then(Value::as_str)) {
            (Some(value), Some(from)) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                found.push((name.to_owned(), clean(&text), clean(from)));
            }
            _ => map.iter().for_each(|(key, value)| walk(&below(key), value, found)),
        },
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                walk(&below(&i.to_string()), item, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn every_fact_of_the_document_is_told_with_its_origin() {
        let inspection = &testing::array().0.inspection;
        let text = facts(inspection, 200, Style { color: false });
        let json = serde_json::to_string(inspection).unwrap();
        assert!(text.contains("device.below.0.below.1.queue.scheduler: "), "{text}");
        let facts = json.matches("{\"value\":").count();
        assert_eq!(text.lines().filter(|l| l.starts_with("  ")).count(), facts, "{text}");
    }
}

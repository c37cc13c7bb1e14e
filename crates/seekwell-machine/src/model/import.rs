//! Drives of DiskSim as descriptions.

use crate::describe::Provenance;
use crate::disksim::{DisksimError, array, beside, drive, read};
use seekwell_sys::classify;
use toml::{Table, Value};

/// A drive as a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The description's text.
    pub toml: String,
    /// `KEY = VALUE` of what the files say and no layer models.
    pub not_modelled: Vec<String>,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ImportError {
    #[error(transparent)]
    Disksim(#[from] DisksimError),
    #[error("{0}")]
    Toml(#[from] toml::ser::Error),
}

classify!(ImportError {
    Usage: Disksim, Toml;
});

/// Makes a description of a parameter file's array of equal drives, or else of its first drive,
/// and says what it has beside that. `open` gives a file's text by its
/// name as the files have it, which is relative to the first one's folder.
///
/// # Errors
/// [`ImportError`] with file and line of what is wrong.
pub fn import(
    name: &str,
    open: &mut dyn FnMut(&str) -> std::io::Result<String>,
) -> Result<Imported, ImportError> {
    let document = read(name, open)?;
    let array = array(&document)?;
    let made = drive(&document, None, open)?;
    let mut not_modelled = made.not_modelled;
    not_modelled.extend(beside(&document, array.as_ref().map_or(1, |array| array.members)));
    let mut table = Table::try_from(&made.params)?;
    // What such files hold was taken from the drives by their authors.
    table.insert("kind".to_owned(), Value::from("hdd"));
    table.insert("from".to_owned(), Value::from(Provenance::Measured.name()));
    let about = format!("Imported from DiskSim's {name}, component {}.", made.name);
    let mut whole = Table::new();
    whole.insert("title".to_owned(), Value::from(made.model));
    whole.insert("about".to_owned(), Value::from(about));
    if let Some(array) = array {
        table.insert("count".to_owned(), Value::from(array.members as i64));
        let mut table = Table::try_from(array.params)?;
        table.insert("from".to_owned(), Value::from(Provenance::Assumed.name()));
        whole.insert("array".to_owned(), Value::from(table));
    }
    whole.insert("drive".to_owned(), Value::from(table));
    Ok(Imported { toml: toml::to_string(&whole)?, not_modelled })
}

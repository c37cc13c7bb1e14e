//! Drives of DiskSim as descriptions.

use crate::describe::Source;
use crate::disksim::{DisksimError, drive, read};
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
pub enum ImportError {
    /// The files cannot be read.
    #[error(transparent)]
    Disksim(#[from] DisksimError),
    /// The drive cannot be written as TOML.
    #[error("{0}")]
    Toml(#[from] toml::ser::Error),
}

/// Makes a description of the first drive of a parameter file. `open` gives a file's text by its
/// name as the files have it, which is relative to the first one's folder.
///
/// # Errors
/// [`ImportError`] with file and line of what is wrong.
pub fn import(
    name: &str,
    open: &mut dyn FnMut(&str) -> std::io::Result<String>,
) -> Result<Imported, ImportError> {
    let document = read(name, open)?;
    let made = drive(&document, None, open)?;
    let mut table = Table::try_from(&made.params)?;
    // What such files hold was taken from the drives by their authors.
    table.insert("kind".to_owned(), Value::from("hdd"));
    table.insert("from".to_owned(), Value::from(Source::Measured.name()));
    let about = format!("Imported from DiskSim's {name}, component {}.", made.name);
    let mut whole = Table::new();
    whole.insert("title".to_owned(), Value::from(made.model));
    whole.insert("about".to_owned(), Value::from(about));
    whole.insert("drive".to_owned(), Value::from(table));
    Ok(Imported { toml: toml::to_string(&whole)?, not_modelled: made.not_modelled })
}

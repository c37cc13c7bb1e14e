//! The words, cells and plots of a study.

use super::plot::Panel;
use serde::Serialize;

/// The text, table and plots of a study. All text is clean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyText {
    pub title: String,
    /// What came of it, in sentences; none for a sweep.
    pub sentences: Vec<String>,
    pub columns: Vec<String>,
    /// So many columns are words, the others numbers.
    pub words: usize,
    /// So many columns at the end can be left out if there is no room.
    pub spare: usize,
    pub rows: Vec<Vec<String>>,
    pub(crate) panels: Vec<Panel>,
}

//! What a report about many hosts reads of kept runs: which are the newest, and their rows.

use crate::table::Row;
use crate::tables::rows;
use seekwell_runs::{Detail, RunEntry, Runs, Store, StoreError};

/// Kept runs, also as rows of [`crate::tables()`].
pub trait Survey: Runs {
    /// The rows of these runs, by table. Histograms are left out, and of the metrics all but rates
    /// may be.
    ///
    /// # Errors
    /// As for [`Runs::each`].
    fn rows(&self, runs: &[&RunEntry]) -> Result<[Vec<Row>; 5], StoreError> {
        let mut all: [Vec<Row>; 5] = Default::default();
        self.each(runs, &mut |run| {
            for (all, new) in all.iter_mut().zip(rows(&run, &Detail::default())) {
                all.extend(new);
            }
        })?;
        Ok(all)
    }
}

impl Survey for Store {}

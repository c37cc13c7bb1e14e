//! What stands for PostgreSQL in a program that is built without it: a place that cannot be.

use crate::day::Day;
use crate::error::FleetError;
use crate::survey::Survey;
use seekwell_runs::{Detail, Filter, Listing, Measured, RunDocument, RunEntry, Runs, StoreError};
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Debug, Clone)]
enum Never {}

/// A PostgreSQL database, and how to reach it.
#[derive(Debug, Clone)]
pub struct Place(Never);

/// A connection to a database of kept runs.
pub struct Database(Never);

/// A database that runs are sent to.
pub struct Sender(Never);

impl Place {
    /// Reads an address.
    ///
    /// # Errors
    /// Always [`FleetError::Without`].
    pub fn parse(_: &str, _: impl Fn(&str) -> Option<String>) -> Result<Self, FleetError> {
        Err(FleetError::Without)
    }

    /// The address without user and password.
    pub fn name(&self) -> &str {
        match self.0 {}
    }
}

impl Database {
    /// Connects in order to read.
    ///
    /// # Errors
    /// None.
    pub fn open(place: &Place) -> Result<Self, FleetError> {
        match place.0 {}
    }

    /// Refuses to write from now on, and ends a query that takes longer than this.
    ///
    /// # Errors
    /// None.
    pub fn only_read(&self, _: Duration) -> Result<(), StoreError> {
        match self.0 {}
    }

    /// Whether the connection is lost.
    pub fn is_lost(&self) -> bool {
        match self.0 {}
    }

    /// A metric on each day on which disks of a model were measured, oldest first.
    ///
    /// # Errors
    /// None.
    pub fn days(&self, _: &str, _: Option<&str>, _: &str, _: &str) -> Result<Vec<Day>, StoreError> {
        match self.0 {}
    }
}

impl Runs for Database {
    fn list(&self, _: &Filter) -> Result<Listing, StoreError> {
        match self.0 {}
    }

    fn load(&self, _: &str) -> Result<(RunDocument, Detail), StoreError> {
        match self.0 {}
    }

    fn each(&self, _: &[&RunEntry], _: &mut dyn FnMut(RunDocument)) -> Result<(), StoreError> {
        match self.0 {}
    }

    fn history(&self, _: &str, _: Option<&str>) -> Result<Vec<Measured>, StoreError> {
        match self.0 {}
    }
}

impl Survey for Database {}

impl Sender {
    /// Connects in order to send runs.
    ///
    /// # Errors
    /// None.
    pub fn open(place: &Place) -> Result<Self, FleetError> {
        match place.0 {}
    }

    /// Host and id of all runs that are there.
    ///
    /// # Errors
    /// None.
    pub fn there(&self) -> Result<BTreeSet<[String; 2]>, StoreError> {
        match self.0 {}
    }

    /// Sends a run.
    ///
    /// # Errors
    /// None.
    pub fn send(&mut self, _: &RunDocument, _: &Detail) -> Result<(), StoreError> {
        match self.0 {}
    }

    /// Whether the connection is lost.
    pub fn is_lost(&self) -> bool {
        match self.0 {}
    }
}

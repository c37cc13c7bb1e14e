//! What every command needs: where to print, where runs are kept, how to be stopped.

use crate::cli::{Global, PushTo, When};
use crate::exit::CommandError;
use crate::signals::file_size_hint;
use seekwell_fleet::{Database, FleetError, Place, Survey};
use seekwell_io::engine::Control;
use seekwell_report::Style;
use seekwell_run::{ANSWER, Host};
use seekwell_runs::{Store, StoreError, default_dir};
use seekwell_sys::{Live, Patient};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Output is wrapped at this width where the terminal does not say, and never wider than this.
const WIDTH: usize = 80;
const WIDEST: usize = 120;

pub struct Context {
    /// Print documents and nothing else.
    pub json: bool,
    /// How tables are drawn.
    pub style: Style,
    pub width: usize,
    /// Draw progress on standard error.
    pub progress: bool,
    /// The running system.
    pub view: Patient<Live>,
    /// Set by signals, heeded by the engine.
    pub control: Arc<Control>,
    runs_dir: Option<PathBuf>,
}

impl Context {
    /// The surroundings as the switches and the environment say.
    pub fn new(global: &Global) -> Self {
        let out = std::io::stdout();
        let color = match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let choice = anstream::AutoStream::choice(&out);
                choice != anstream::ColorChoice::Never && out.is_terminal()
            }
        };
        Self {
            json: global.json,
            style: Style { color },
            width: terminal_width().unwrap_or(WIDTH).clamp(40, WIDEST),
            progress: std::io::stderr().is_terminal(),
            view: Patient::new(Live::system(), ANSWER),
            control: Arc::default(),
            runs_dir: global.runs_dir.clone(),
        }
    }

    /// What a measurement needs of this process.
    pub const fn host(&self) -> Host<'_> {
        Host { view: &self.view, control: &self.control }
    }

    /// Where runs are kept.
    ///
    /// # Errors
    /// When neither the switch nor the environment names a place.
    pub fn store(&self) -> Result<Store, StoreError> {
        let dir = match &self.runs_dir {
            Some(dir) => dir.clone(),
            None => default_dir(
                std::env::var_os("XDG_DATA_HOME").as_deref(),
                std::env::var_os("HOME").as_deref(),
            )?,
        };
        Ok(Store::open(dir))
    }

    /// Where runs are kept, those made from now on waiting to be sent.
    ///
    /// # Errors
    /// As for [`Context::store`], or when the address is invalid.
    pub fn outbox(&self, push: &PushTo) -> Result<Store, CommandError> {
        let store = self.store()?;
        Ok(match push.url() {
            Some(url) => store.sending_to(place(url)?.name()),
            None => store,
        })
    }

    /// Where runs are read from: a database, or where they are kept.
    ///
    /// # Errors
    /// As for [`Context::store`], or when the database cannot be read.
    pub fn runs(&self, database: Option<&str>) -> Result<Box<dyn Survey>, CommandError> {
        Ok(match database {
            Some(url) => Box::new(Database::open(&place(url)?)?),
            None => Box::new(self.store()?),
        })
    }

    /// Prints a result.
    ///
    /// # Errors
    /// When standard output is closed or full.
    pub fn print(&self, text: &str) -> Result<(), CommandError> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Prints a document as JSON.
    ///
    /// # Errors
    /// As for [`Context::print`].
    pub fn print_json(&self, document: &impl Serialize) -> Result<(), CommandError> {
        let mut text = serde_json::to_string_pretty(document).map_err(CommandError::Json)?;
        text.push('\n');
        self.print(&text)
    }

    pub fn note(&self, text: &str) {
        note(text);
    }

    /// Removes what killed runs left in a directory, and says so.
    pub fn sweep(&self, dir: &Path) {
        seekwell_run::sweep(dir, |text| self.note(text));
    }

    pub fn complain(&self, error: &CommandError) {
        self.note(&format!("{error}{}", file_size_hint()));
    }
}

/// The database that an address and the environment name.
///
/// # Errors
/// When it is no address, or this program has no PostgreSQL.
pub fn place(url: &str) -> Result<Place, FleetError> {
    Place::parse(url, |name| std::env::var(name).ok())
}

fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Says something on standard error.
pub fn note(text: &str) {
    // If standard error is closed, there is no way to report it.
    let _ = writeln!(std::io::stderr(), "seekwell: {text}");
}

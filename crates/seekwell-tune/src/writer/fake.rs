//! A test twin of the kernel's files: attributes that take a value, change it, refuse it, or never
//! return.

use super::Writer;
use crate::apply::current;
use seekwell_sys::View;
use seekwell_sys::fake::Fake;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

/// How an attribute behaves when it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    Takes,
    /// Takes numbers, and moves those outside into the range without saying so.
    Clamps(i64, i64),
    /// One of the words it lists; shows which in brackets.
    Lists(Vec<String>),
    Refuses(io::ErrorKind),
    /// The call does not return until [`Attributes::thaw`].
    Blocks,
    /// Says it took the value and keeps its own.
    Ignores,
    /// Takes part of a line and shows it whole.
    Completes(String),
    ReadOnly,
}

#[derive(Debug, Clone)]
struct Attribute {
    value: String,
    behaviour: Behaviour,
    /// Written with this value as well whenever it is written: the kernel's side effects.
    resets: Vec<(PathBuf, String)>,
}

#[derive(Debug, Default)]
pub struct Attributes {
    state: Mutex<BTreeMap<PathBuf, Attribute>>,
    frozen: Mutex<bool>,
    thawed: Condvar,
    log: Mutex<Vec<(PathBuf, String)>>,
}

impl Attributes {
    pub fn new() -> Self {
        let new = Self::default();
        *lock(&new.frozen) = true;
        new
    }

    /// Adds one.
    #[must_use]
    pub fn with(self, path: impl Into<PathBuf>, value: &str, behaviour: Behaviour) -> Self {
        let value = value.to_owned();
        let attribute = Attribute { value, behaviour, resets: Vec::new() };
        lock(&self.state).insert(path.into(), attribute);
        self
    }

    /// Makes writing `path` set `other` too.
    #[must_use]
    pub fn resetting(self, path: impl AsRef<Path>, other: impl Into<PathBuf>, to: &str) -> Self {
        if let Some(attribute) = lock(&self.state).get_mut(path.as_ref()) {
            attribute.resets.push((other.into(), to.to_owned()));
        }
        self
    }

    /// The value now, in brackets gone; empty when there is no such attribute.
    pub fn value(&self, path: impl AsRef<Path>) -> String {
        lock(&self.state).get(path.as_ref()).map(|a| a.value.clone()).unwrap_or_default()
    }

    /// Sets a value as the kernel itself or another program would.
    pub fn put(&self, path: impl AsRef<Path>, value: &str) {
        if let Some(attribute) = lock(&self.state).get_mut(path.as_ref()) {
            value.clone_into(&mut attribute.value);
        }
    }

    /// Changes how an attribute behaves from now on.
    pub fn behave(&self, path: impl AsRef<Path>, behaviour: Behaviour) {
        if let Some(attribute) = lock(&self.state).get_mut(path.as_ref()) {
            attribute.behaviour = behaviour;
        }
    }

    /// Lets every blocked write go on.
    pub fn thaw(&self) {
        *lock(&self.frozen) = false;
        self.thawed.notify_all();
    }

    /// Every write that was tried, in order.
    pub fn writes(&self) -> Vec<(PathBuf, String)> {
        lock(&self.log).clone()
    }

    /// The attributes as a view shows them, on top of `base`.
    pub fn view(&self, base: Fake) -> Fake {
        let shown: Vec<(PathBuf, String)> =
            lock(&self.state).iter().map(|(p, a)| (p.clone(), shown(a))).collect();
        shown.into_iter().fold(base, |fake, (path, text)| fake.file(path, format!("{text}\n")))
    }

    /// A fake of every number and word `view` shows at `paths`, each taking what is written.
    pub fn of(view: &dyn View, paths: &[PathBuf]) -> Self {
        paths.iter().fold(Self::new(), |fake, path| {
            let text = view.text(path).unwrap_or_default();
            fake.with(path.clone(), &current(&text), Behaviour::Takes)
        })
    }
}

fn shown(attribute: &Attribute) -> String {
    match &attribute.behaviour {
        Behaviour::Lists(words) => {
            let mark = |w: &String| {
                if *w == attribute.value { format!("[{w}]") } else { w.clone() }
            };
            words.iter().map(mark).collect::<Vec<_>>().join(" ")
        }
        _ => attribute.value.clone(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writer for Attributes {
    fn read(&self, path: &Path) -> io::Result<String> {
        let state = lock(&self.state);
        state.get(path).map(shown).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        lock(&self.log).push((path.to_path_buf(), text.to_owned()));
        let attribute = lock(&self.state).get(path).cloned();
        let mut attribute = attribute.ok_or(io::ErrorKind::NotFound)?;
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        match &attribute.behaviour {
            Behaviour::Takes => text.clone_into(&mut attribute.value),
            Behaviour::Clamps(least, most) => {
                let number: i64 = text.parse().map_err(|_| invalid())?;
                attribute.value = number.clamp(*least, *most).to_string();
            }
            Behaviour::Lists(words) => {
                if !words.iter().any(|w| w == text) {
                    return Err(invalid());
                }
                text.clone_into(&mut attribute.value);
            }
            Behaviour::Refuses(kind) => return Err((*kind).into()),
            Behaviour::Ignores => {}
            Behaviour::Completes(rest) => attribute.value = format!("{text} {rest}"),
            Behaviour::ReadOnly => return Err(io::ErrorKind::PermissionDenied.into()),
            Behaviour::Blocks => {
                let frozen = lock(&self.frozen);
                let _thawed = self
                    .thawed
                    .wait_while(frozen, |frozen| *frozen)
                    .unwrap_or_else(PoisonError::into_inner);
                text.clone_into(&mut attribute.value);
            }
        }
        let mut state = lock(&self.state);
        for (other, to) in &attribute.resets {
            if let Some(other) = state.get_mut(other) {
                to.clone_into(&mut other.value);
            }
        }
        state.insert(path.to_path_buf(), attribute);
        Ok(())
    }

    fn writable(&self, path: &Path) -> io::Result<bool> {
        let state = lock(&self.state);
        let attribute = state.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(attribute.behaviour != Behaviour::ReadOnly)
    }
}

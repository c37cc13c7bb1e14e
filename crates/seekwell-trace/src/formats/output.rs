//! An output file, packed where its name says so.

use crate::error::TraceError;
use seekwell_access::OutputFile;
use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

type Plain = BufWriter<OutputFile>;

enum Packing {
    None(Plain),
    Gzip(flate2::write::GzEncoder<Plain>),
    Zstd(zstd::Encoder<'static, Plain>),
}

/// A file being written. Dropping it removes it.
pub struct Output {
    path: PathBuf,
    packing: Packing,
}

impl Output {
    /// Begins a file; `.gz` and `.zst` in its name mean that it is compressed.
    ///
    /// # Errors
    /// [`TraceError::Output`]; [`TraceError::Io`] if it cannot be compressed.
    pub fn create(path: &Path, force: bool) -> Result<Self, TraceError> {
        let Self { path, packing: Packing::None(plain) } = Self::begin(path, force)? else {
            unreachable!("it begins plain")
        };
        let packing = match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => {
                Packing::Gzip(flate2::write::GzEncoder::new(plain, flate2::Compression::new(6)))
            }
            Some("zst") => Packing::Zstd(zstd::Encoder::new(plain, 3).map_err(|source| {
                TraceError::Io { what: "writing", path: path.clone(), source }
            })?),
            _ => Packing::None(plain),
        };
        Ok(Self { path, packing })
    }

    /// Begins a file that is never compressed, for formats that go back and change what they wrote.
    ///
    /// # Errors
    /// [`TraceError::Output`].
    pub fn begin(path: &Path, force: bool) -> Result<Self, TraceError> {
        let file = OutputFile::create(path, force)?;
        let packing = Packing::None(BufWriter::with_capacity(1 << 20, file));
        Ok(Self { path: path.to_owned(), packing })
    }

    /// The name it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error of writing this file.
    pub fn failed(&self, source: io::Error) -> TraceError {
        TraceError::Io { what: "writing", path: self.path.clone(), source }
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let done = match &mut self.packing {
            Packing::None(w) => w.write_all(bytes),
            Packing::Gzip(w) => w.write_all(bytes),
            Packing::Zstd(w) => w.write_all(bytes),
        };
        done.map_err(|e| self.failed(e))
    }

    /// The plain file, all bytes in it, to be read and changed before it is finished.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn plain(&mut self) -> Result<&mut File, TraceError> {
        let Packing::None(w) = &mut self.packing else {
            unreachable!("asked of files that were begun plain")
        };
        if let Err(source) = w.flush() {
            return Err(TraceError::Io { what: "writing", path: self.path.clone(), source });
        }
        Ok(w.get_mut().file())
    }

    /// Makes it durable and gives it its name.
    ///
    /// # Errors
    /// [`TraceError::Io`] and [`TraceError::Output`]; nothing is left behind then, but where the
    /// name was taken meanwhile.
    pub fn commit(self) -> Result<(), TraceError> {
        let plain = match self.packing {
            Packing::None(w) => Ok(w),
            Packing::Gzip(w) => w.finish(),
            Packing::Zstd(w) => w.finish(),
        };
        let file = plain.and_then(|w| w.into_inner().map_err(IntoInnerError::into_error));
        let path = self.path;
        let failed = |source| TraceError::Io { what: "writing", path, source };
        Ok(file.map_err(failed)?.finish()?)
    }
}

//! An output file that appears under its name only when it is whole.

use crate::error::TraceError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

enum Packing {
    None(BufWriter<File>),
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

/// A file being written in the same folder under another name. Dropping it removes it.
pub struct Output {
    path: PathBuf,
    temporary: PathBuf,
    /// Taken when it is finished.
    packing: Option<Packing>,
}

impl Output {
    /// Begins a file; `.gz` and `.zst` in its name mean that it is compressed.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn create(path: &Path) -> Result<Self, TraceError> {
        let mut output = Self::begin(path)?;
        let Some(Packing::None(plain)) = output.packing.take() else {
            unreachable!("it begins plain")
        };
        output.packing = Some(match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => {
                Packing::Gzip(flate2::write::GzEncoder::new(plain, flate2::Compression::new(6)))
            }
            Some("zst") => {
                Packing::Zstd(zstd::Encoder::new(plain, 3).map_err(|e| output.failed(e))?)
            }
            _ => Packing::None(plain),
        });
        Ok(output)
    }

    /// Begins a file that is never compressed, for formats that go back and change what they wrote.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn begin(path: &Path) -> Result<Self, TraceError> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)
            .map_err(|source| TraceError::Io { what: "writing", path: path.to_owned(), source })?;
        let packing = Some(Packing::None(BufWriter::with_capacity(1 << 20, file)));
        Ok(Self { path: path.to_owned(), temporary, packing })
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
            Some(Packing::None(w)) => w.write_all(bytes),
            Some(Packing::Gzip(w)) => w.write_all(bytes),
            Some(Packing::Zstd(w)) => w.write_all(bytes),
            None => unreachable!("finished files are not written to"),
        };
        done.map_err(|e| self.failed(e))
    }

    /// The plain file, all bytes in it, to be read and changed before it is finished.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn plain(&mut self) -> Result<&mut File, TraceError> {
        let Some(Packing::None(w)) = &mut self.packing else {
            unreachable!("asked of files that were begun plain")
        };
        if let Err(source) = w.flush() {
            return Err(TraceError::Io { what: "writing", path: self.path.clone(), source });
        }
        Ok(w.get_mut())
    }

    /// Makes it durable and gives it its name.
    ///
    /// # Errors
    /// [`TraceError::Io`]; nothing is left behind then.
    pub fn commit(mut self) -> Result<(), TraceError> {
        let packing = self.packing.take().expect("only this takes it");
        let done = match packing {
            Packing::None(w) => Ok(w),
            Packing::Gzip(w) => w.finish(),
            Packing::Zstd(w) => w.finish(),
        }
        .and_then(|w| w.into_inner().map_err(io::IntoInnerError::into_error))
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&self.temporary, &self.path));
        done.map_err(|e| self.failed(e))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // After a commit there is nothing under this name.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_is_not_finished_leaves_nothing_and_keeps_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.csv");
        fs::write(&path, "old").expect("writes");
        let mut output = Output::create(&path).expect("creates");
        output.put(b"new").expect("writes");
        drop(output);
        assert_eq!(fs::read_to_string(&path).expect("reads"), "old");
        assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 1);
    }
}

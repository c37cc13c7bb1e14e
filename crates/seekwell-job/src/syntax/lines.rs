//! Job files: sections, options, comments, `include`.

use super::{Section, Written};
use crate::error::{JobError, shortened};
use crate::job::Origin;
use crate::options::find;
use crate::surroundings::{MOST_BYTES, Surroundings};
use std::path::{Path, PathBuf};

/// The longest line in bytes, as in fio.
const LONGEST_LINE: usize = 8192;
/// Files included within one another.
const DEEPEST: usize = 16;

/// Reads the text of a job file and of everything it includes.
pub(crate) fn read_lines(
    text: &str,
    file: &Path,
    around: &Surroundings,
) -> Result<Vec<Section>, JobError> {
    let mut reader = Reader { around, sections: Vec::new(), open: Vec::new(), bytes: 0 };
    reader.file(text, file, None)?;
    Ok(reader.sections)
}

/// Collects sections over included files.
struct Reader<'a> {
    /// Reads included files.
    around: &'a Surroundings,
    sections: Vec<Section>,
    /// The files being read, the outermost first.
    open: Vec<PathBuf>,
    /// Bytes of text in all files so far.
    bytes: u64,
}

impl Reader<'_> {
    /// Reads one file; `included` is the line that asked for it.
    fn file(&mut self, text: &str, file: &Path, included: Option<&Origin>) -> Result<(), JobError> {
        let name = file.display().to_string();
        self.bytes += text.len() as u64;
        if self.bytes > MOST_BYTES {
            let at = included.cloned().unwrap_or(Origin { file: name, line: 1 });
            return Err(JobError::TooMany {
                at,
                what: "bytes of job files",
                found: self.bytes,
                most: MOST_BYTES,
                why: "included files counted each time",
            });
        }
        self.open.push(file.to_owned());
        for (n, line) in text.lines().enumerate() {
            let at = Origin { file: name.clone(), line: n as u32 + 1 };
            if line.len() > LONGEST_LINE {
                let found = line.len() as u64;
                let most = LONGEST_LINE as u64;
                let what = "bytes in a line";
                return Err(JobError::TooMany { at, what, found, most, why: "as in fio" });
            }
            self.line(without_comment(line), at, included.is_some())?;
        }
        self.open.pop();
        Ok(())
    }

    /// Reads one line without its comment.
    fn line(&mut self, line: &str, at: Origin, included: bool) -> Result<(), JobError> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(file) = line.strip_prefix("include").filter(|f| f.starts_with([' ', '\t'])) {
            return self.include(file.trim(), &at);
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (line, None),
        };
        if included && find(name).is_none() {
            return Err(JobError::Foreign { at });
        }
        let bad = |needed| JobError::Syntax { at: at.clone(), found: shortened(line), needed };
        if let Some(rest) = line.strip_prefix('[') {
            let (name, after) = rest.rsplit_once(']').ok_or_else(|| bad("] at the end"))?;
            if name.trim().is_empty() || !after.is_empty() {
                return Err(bad("a name in brackets and nothing after them"));
            }
            self.sections.push(Section { name: name.trim().to_owned(), at, options: Vec::new() });
            return Ok(());
        }
        let section = self
            .sections
            .last_mut()
            .ok_or_else(|| bad("a section such as [job1] or [global] before the first option"))?;
        section.options.push(Written { name: name.to_owned(), value, at });
        Ok(())
    }

    /// Reads an included file; a relative name counts from the including file's folder.
    fn include(&mut self, name: &str, at: &Origin) -> Result<(), JobError> {
        let parent = self.open.last().and_then(|file| file.parent());
        let file = parent.unwrap_or(Path::new("")).join(name);
        let refuse = |why| Err(JobError::Include { at: at.clone(), file: shortened(name), why });
        if self.open.contains(&file) {
            return refuse("it includes itself");
        }
        if self.open.len() >= DEEPEST {
            return refuse("more than 16 files within one another");
        }
        let bytes = (self.around.read)(&file).map_err(|source| JobError::Read {
            file: format!("{at}: include {}", shortened(&file.display().to_string())),
            source,
        })?;
        self.file(&String::from_utf8_lossy(&bytes), &file, Some(at))
    }
}

/// A line up to its first `;` or `#`, without the blanks around it. These begin a comment wherever
/// they stand.
fn without_comment(line: &str) -> &str {
    let end = line.find([';', '#']).unwrap_or(line.len());
    line[..end].trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

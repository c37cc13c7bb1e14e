//! Files generated from the program's own command line, written to dist/ or compared with it.

use crate::{Failure, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of both generators.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; fail when what is there is not what would be written.
    #[arg(long)]
    check: bool,
    /// Folder to write to [default: the one in dist/].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Writes the files (name to content) to dist/`folder`, and removes others, or compares them.
pub fn write_or_check(
    args: &Args,
    folder: &str,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<ExitCode, Failure> {
    let dir = args.out.clone().unwrap_or_else(|| root().join("dist").join(folder));
    let there: BTreeMap<String, Vec<u8>> = match fs::read_dir(&dir) {
        Ok(entries) => entries
            .map(|entry| {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                Ok((name, fs::read(entry.path())?))
            })
            .collect::<std::io::Result<_>>()?,
        Err(_) => BTreeMap::new(),
    };
    if args.check {
        let names = files.keys().chain(there.keys());
        let drifted = names.filter(|name| files.get(*name) != there.get(*name));
        let drifted: std::collections::BTreeSet<_> = drifted.map(String::as_str).collect();
        if drifted.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let list = drifted.into_iter().collect::<Vec<_>>().join(", ");
        return Err(format!(
            "dist/{folder} is not what the command line says: {list}; run `cargo xtask {folder}`"
        )
        .into());
    }
    fs::create_dir_all(&dir)?;
    for name in there.keys().filter(|name| !files.contains_key(*name)) {
        fs::remove_file(dir.join(name))?;
    }
    for (name, content) in files {
        fs::write(dir.join(name), content)?;
    }
    Ok(ExitCode::SUCCESS)
}

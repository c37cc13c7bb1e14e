//! Kernel modules: which file has which name, and what has to be loaded before it. The package
//! carries no `modules.dep` (it is made where it is installed), so each module is asked itself.

use crate::Failure;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of one kernel, by name.
#[derive(Debug)]
pub struct Modules {
    files: BTreeMap<String, PathBuf>,
}

/// Algorithms that other modules ask the kernel for by what they do, not by module.
const ALGORITHMS: [&str; 3] = ["crct10dif_generic", "crc64_rocksoft_generic", "crc32c_generic"];

impl Modules {
    pub fn below(folder: &Path) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        walk(folder, &mut files)?;
        if files.is_empty() {
            return Err(format!("there are no modules below {}", folder.display()).into());
        }
        Ok(Self { files })
    }

    /// The modules asked for with what they depend on, each after what it needs.
    pub fn in_order(&self, wanted: &[String]) -> Result<Vec<(String, PathBuf)>, Failure> {
        let mut out = Vec::new();
        for name in ALGORITHMS.iter().copied().chain(wanted.iter().map(String::as_str)) {
            self.add(&plain(name), &mut out)?;
        }
        Ok(out)
    }

    fn add(&self, name: &str, out: &mut Vec<(String, PathBuf)>) -> Result<(), Failure> {
        if out.iter().any(|(n, _)| n == name) {
            return Ok(());
        }
        let path = self.files.get(name).ok_or_else(|| format!("no kernel module named {name}"))?;
        for needed in depends(&fs::read(path)?) {
            self.add(&needed, out)?;
        }
        out.push((name.to_owned(), path.clone()));
        Ok(())
    }
}

/// A module's name as the kernel writes it.
fn plain(name: &str) -> String {
    name.replace('-', "_")
}

fn walk(folder: &Path, out: &mut BTreeMap<String, PathBuf>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "ko") {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            out.insert(plain(&stem), path);
        }
    }
    Ok(())
}

/// What a module says it depends on: `depends=a,b` among the texts of its `.modinfo`.
fn depends(module: &[u8]) -> Vec<String> {
    let key = b"\0depends=";
    let Some(at) = module.windows(key.len()).position(|w| w == key) else { return Vec::new() };
    let rest = &module[at + key.len()..];
    let end = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
    let text = String::from_utf8_lossy(&rest[..end]);
    text.split(',').filter(|name| !name.is_empty()).map(plain).collect()
}

/// The parameters of a module among kernel arguments: of `a.b=1 c.d=2` for `a`, `b=1`.
pub fn parameters(module: &str, kernel: &[String]) -> String {
    let mine = kernel.iter().filter_map(|argument| {
        let (owner, parameter) = argument.split_once('.')?;
        (plain(owner) == plain(module)).then_some(parameter)
    });
    mine.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_after_all_it_needs_and_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let module = |name: &str, needs: &str| {
            let text = format!("x\0license=GPL\0depends={needs}\0name={name}\0");
            fs::write(dir.path().join(format!("{name}.ko")), text).unwrap();
        };
        module("ahci", "libahci,libata");
        module("libahci", "libata");
        module("libata", "scsi-mod");
        module("scsi_mod", "");
        for name in ALGORITHMS {
            module(name, "");
        }
        let modules = Modules::below(dir.path()).unwrap();
        let wanted = ["ahci".to_owned(), "libata".to_owned()];
        let order: Vec<String> =
            modules.in_order(&wanted).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(order[3..], ["scsi_mod", "libata", "libahci", "ahci"]);
        let error = modules.in_order(&["nvmee".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("nvmee"), "{error}");
    }

    #[test]
    fn a_parameter_goes_to_the_module_it_names_however_that_is_written() {
        let kernel =
            ["quiet", "nvme_core.io_timeout=2", "libata.force=noncq", "nvme_core.multipath=Y"]
                .map(str::to_owned);
        assert_eq!(parameters("nvme-core", &kernel), "io_timeout=2 multipath=Y");
        assert_eq!(parameters("ahci", &kernel), "");
    }
}

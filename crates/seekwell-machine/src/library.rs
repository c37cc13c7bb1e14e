//! The machines that ship with the program, and where parts are found.

use crate::describe::Parts;
use seekwell_sys::{MAX_TEXT, nearest, read_text};
use std::path::{Path, PathBuf};

macro_rules! shipped {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../machines/", $folder, $name, ".toml")))),*]
    };
}

/// Names and texts of the machines, in alphabetical order.
pub const MACHINES: &[(&str, &str)] = shipped!("":
    "870-evo-1tb",
    "990-pro-2tb",
    "acceleraid600-pci64-66",
    "acceleraid600-pcix64-100",
    "c300-after",
    "c300-before",
    "cm7-r-3840",
    "d7-p5520-1920",
    "dragonfly-hdd-after",
    "dragonfly-hdd-before",
    "exos-2x18",
    "exos-x18",
    "megaraid1600-pci32-33",
    "megaraid1600-pci32-33-load",
    "megaraid1600-pci64-66",
    "micron-7450-max-800",
    "micron-7450-pro-960",
    "nvme-ssd",
    "p3-plus-1tb",
    "p4sbe-ich8-ahci",
    "p4sbe-ich8-piix",
    "pe8110-960",
    "pii350-c3m16",
    "pii350-default",
    "pii350-udma2",
    "pm9a3-960",
    "qlc-ssd",
    "sata-7200",
    "sata-ssd",
    "st8000as0002",
    "swapcache-after",
    "swapcache-before",
    "swapcache-ssd-after",
    "swapcache-ssd-before",
    "volume-gp2",
    "volume-gp3",
    "volume-io2",
    "wd-dc-960",
    "x8dtl-ahci-bios",
    "x8dtl-ahci-intel",
    "x8dtl-ide",
    "zn540",
);

/// Names and texts of the parts machines are made of, in alphabetical order.
pub const PARTS: &[(&str, &str)] = shipped!("parts/":
    "870-evo-1tb",
    "990-pro-2tb",
    "acceleraid-600",
    "ahci",
    "atlas-15k",
    "c300-256",
    "cm7-r-3840",
    "d7-p5520-1920",
    "dragonfly-c300-after",
    "dragonfly-c300-before",
    "exos-2x18",
    "exos-x18",
    "hdd",
    "hdd-2008-sata",
    "hdd-2011-1tb",
    "hdd-common",
    "ide",
    "ide-1999",
    "linux-2.6-noop",
    "megaraid-1600",
    "micron-7450-max-800",
    "micron-7450-pro-960",
    "none",
    "p3-plus-1tb",
    "p4sbe-ich8",
    "pci-32-33",
    "pci-32-33-load",
    "pci-64-66",
    "pcix-64-100",
    "pe8110-960",
    "pii350",
    "pm9a3-960",
    "read-cache",
    "sata-1.5",
    "sata-3",
    "sata-6",
    "ssd",
    "ssd-dc-common",
    "ssd-nvme-1tb",
    "ssd-sata-1tb",
    "st2000dm006",
    "st250dm000",
    "st8000as0002",
    "swapcache",
    "ultra160",
    "ultra320",
    "volume",
    "wd-dc-960",
    "x8dtl",
    "zn540",
);

fn find(among: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    among.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The text of a machine that ships.
pub fn machine(name: &str) -> Option<&'static str> {
    find(MACHINES, name)
}

/// Names of shipped machines that `name` may have meant.
pub fn near(name: &str) -> Vec<String> {
    nearest(name, MACHINES.iter().map(|(n, _)| (*n).to_owned()))
}

/// Parts in the folder `parts` beside a description, and those that ship.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    folder: Option<PathBuf>,
}

impl Shelf {
    /// Those that ship, and before them those beside `description`.
    pub fn beside(description: &Path) -> Self {
        Self { folder: description.parent().map(|folder| folder.join("parts")) }
    }
}

impl Parts for Shelf {
    fn text(&self, name: &str) -> Option<String> {
        // A name is no path: it cannot lead out of the folder.
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        let own = self.folder.as_ref().filter(|_| is_name && !name.starts_with('.'));
        let own = own.and_then(|dir| read_text(&dir.join(format!("{name}.toml")), MAX_TEXT).ok());
        own.or_else(|| find(PARTS, name).map(str::to_owned))
    }

    fn names(&self) -> Vec<String> {
        let own = self.folder.as_ref().and_then(|folder| folder.read_dir().ok());
        let own = own.into_iter().flatten().filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".toml").map(str::to_owned)
        });
        let mut names: Vec<String> = own.collect();
        names.extend(PARTS.iter().map(|(name, _)| (*name).to_owned()));
        names.sort();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the descriptions in a folder of the source tree.
    fn described(folder: &str) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines").join(folder);
        let files = path.read_dir().expect("the folder is part of the project");
        let names = files.filter_map(|file| {
            let name = file.expect("it can be read").file_name().into_string().expect("ASCII");
            name.strip_suffix(".toml").map(str::to_owned)
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn every_description_in_the_tree_ships() {
        for (folder, shipped) in [("", MACHINES), ("parts", PARTS)] {
            let names: Vec<&str> = shipped.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, described(folder), "machines/{folder}");
        }
    }
}

//! What a boot is made of and where it comes from: QEMU, a distribution's kernel and busybox
//! (unpacked into a cache, never installed), and the program itself with its libraries.

use super::cpio::Archive;
use super::disk::Content;
use super::modules::Modules;
use super::scenario::{Scenario, Tool};
use crate::{Failure, bench, root};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Everything boots share.
#[derive(Debug)]
pub struct Parts {
    /// The program, which serves modelled machines on this side, too.
    pub program: PathBuf,
    pub kernel: PathBuf,
    modules: Modules,
    busybox: PathBuf,
    /// What every initramfs begins with: a shell and what it does first.
    shell: Vec<u8>,
    /// The program and its libraries, as an archive.
    programs: Vec<u8>,
    tools: BTreeMap<Tool, Result<Vec<u8>, String>>,
}

#[derive(Debug)]
pub enum Without {
    /// The machine lacks something: scenarios are skipped.
    Machine(String),
    /// Something is broken: scenarios fail.
    Broken(Failure),
}

impl<E: Into<Failure>> From<E> for Without {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

impl Without {
    /// The same, and where it happened.
    pub fn during(self, what: &str) -> Self {
        match self {
            Self::Machine(why) => Self::Machine(why),
            Self::Broken(error) => Self::Broken(format!("{what}: {error}").into()),
        }
    }
}

/// Parts of the kernel's package no scenario can need.
const UNNEEDED: [&str; 7] = [
    "./boot/System.map*",
    "./lib/modules/*/kernel/drivers/gpu",
    "./lib/modules/*/kernel/drivers/media",
    "./lib/modules/*/kernel/drivers/net/ethernet",
    "./lib/modules/*/kernel/drivers/net/wireless",
    "./lib/modules/*/kernel/drivers/staging",
    "./lib/modules/*/kernel/sound",
];

/// The folder that keeps what was unpacked and built, and the logs.
pub fn cache() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.map_or_else(|| root().join("target"), |t| root().join(t)).join("lab")
}

impl Parts {
    /// Gathers everything; without `seekwell`, the program is built as tests use it.
    pub fn gather(seekwell: Option<&Path>, tools: &[Tool]) -> Result<Self, Without> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(Without::Machine("the lab runs on Linux on x86-64 only".to_owned()));
        }
        if !has("qemu-system-x86_64") {
            install(&["qemu-system-x86"]).map_err(Without::Machine)?;
        }
        let kernel = unpacked("linux", kernel_package).map_err(Without::Machine)?;
        let busybox = unpacked("busybox", || Ok(vec!["busybox-static".to_owned()]))
            .map_err(Without::Machine)?
            .join("bin/busybox");
        let tools = tools.iter().map(|tool| (*tool, unpacked_tool(*tool))).collect();
        let program = match seekwell {
            Some(path) => path.to_path_buf(),
            None => bench::build(&["--quiet", "--workspace", "--bin", "seekwell"], "seekwell")?,
        };
        Ok(Self {
            kernel: only(&kernel.join("boot"), "vmlinuz-")?,
            modules: Modules::below(&kernel.join("lib/modules"))?,
            shell: shell(&busybox)?,
            busybox,
            programs: with_its_libraries("seekwell", &program)?,
            program,
            tools,
        })
    }

    /// The initramfs of one scenario; an error when a tool of it cannot be had.
    pub fn initramfs(&self, scenario: &Scenario) -> Result<Vec<u8>, Without> {
        let mut out = self.shell.clone();
        let mut archive = Archive::default();
        match scenario.disks.iter().find(|disk| disk.content == Content::Root) {
            Some(root) => {
                let serial = root.serial.as_ref().ok_or("a disk with the root needs a serial")?;
                archive.file("lab/root", 0o644, serial.as_bytes());
            }
            None => self.programs(scenario)?.into_iter().for_each(|more| out.extend(more)),
        }
        archive.character_device("dev/console", 5, 1);
        let (mut order, mut later) = (String::new(), String::new());
        let first = self.modules.in_order(&scenario.modules)?;
        let all: Vec<String> = scenario.modules.iter().chain(&scenario.later).cloned().collect();
        for (i, (name, path)) in self.modules.in_order(&all)?.iter().enumerate() {
            archive.file(&format!("lab/modules/{name}.ko"), 0o644, &fs::read(path)?);
            let list = if i < first.len() { &mut order } else { &mut later };
            let parameters = super::modules::parameters(name, &scenario.kernel);
            list.push_str(format!("{name} {parameters}").trim_end());
            list.push('\n');
        }
        archive.file("lab/modules/order", 0o644, order.as_bytes());
        archive.file("lab/modules/later", 0o644, later.as_bytes());
        out.extend(archive.finish());
        Ok(out)
    }

    /// The archives with the program and the tools of a scenario.
    fn programs(&self, scenario: &Scenario) -> Result<Vec<&[u8]>, Without> {
        let mut out = vec![&self.programs[..]];
        for tool in &scenario.tools {
            let archive = self.tools.get(tool).ok_or("a tool was not gathered")?;
            out.push(archive.as_ref().map_err(|e| Without::Machine(e.clone()))?);
        }
        Ok(out)
    }

    /// Everything a scenario's guest runs, as files in a folder; the modules are in the initramfs.
    pub fn tree(&self, scenario: &Scenario) -> Result<TempDir, Without> {
        let tree = tempfile::tempdir()?;
        for archive in self.programs(scenario)?.into_iter().chain([&self.shell[..]]) {
            let mut cpio = Command::new(&self.busybox);
            cpio.args(["cpio", "-i", "-d", "-u"]).current_dir(&tree);
            let mut cpio = cpio.stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?;
            cpio.stdin.take().ok_or("cpio has no input")?.write_all(archive)?;
            if !cpio.wait()?.success() {
                return Err("the guest's files cannot be unpacked".into());
            }
        }
        Ok(tree)
    }
}

/// A shell, and what it does as the first process.
fn shell(busybox: &Path) -> Result<Vec<u8>, Failure> {
    let mut archive = Archive::default();
    for folder in ["dev", "proc", "sys", "tmp", "run", "mnt", "etc", "lab/modules"] {
        archive.folder(folder);
    }
    archive.file("bin/busybox", 0o755, &fs::read(busybox)?);
    let listed = Command::new(busybox).arg("--list").output()?;
    for applet in String::from_utf8(listed.stdout)?.lines().filter(|a| *a != "busybox") {
        archive.symlink(&format!("bin/{applet}"), "busybox");
    }
    let guest = root().join("lab/guest");
    archive.file("init", 0o755, &fs::read(guest.join("init"))?);
    archive.file("lab/functions", 0o644, &fs::read(guest.join("functions"))?);
    Ok(archive.finish())
}

/// A program of this machine, with what it is linked with.
fn with_its_libraries(name: &str, program: &Path) -> Result<Vec<u8>, Failure> {
    let mut archive = Archive::default();
    archive.file(&format!("bin/{name}"), 0o755, &stripped(program)?);
    archive.symlink("lib64", "lib");
    for library in libraries(program)? {
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        archive.file(&format!("lib/{name}"), 0o755, &fs::read(&library)?);
    }
    Ok(archive.finish())
}

/// A program without its symbols: every byte is unpacked in software emulation.
fn stripped(program: &Path) -> Result<Vec<u8>, Failure> {
    let out = tempfile::NamedTempFile::new()?;
    quiet(Command::new("strip").arg("-o").arg(out.path()).arg(program))?;
    Ok(fs::read(out.path())?)
}

/// The shared libraries that a program is linked with, and the one that loads them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed = Command::new("ldd").arg(program).output()?;
    // Of a static program it says so and fails.
    let text = String::from_utf8(listed.stdout)?;
    let paths = text.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.map(PathBuf::from).collect())
}

fn unpacked_tool(tool: Tool) -> Result<Vec<u8>, String> {
    let (name, packages) = tool.packages();
    if packages.is_empty() {
        let program = found(name).ok_or_else(|| format!("missing: {name}"))?;
        return with_its_libraries(name, &program).map_err(|e| e.to_string());
    }
    let packages = || Ok(packages.iter().map(|p| (*p).to_owned()).collect());
    let dir = unpacked(name, packages)?;
    with_libraries(name, &dir).map_err(|e| e.to_string())
}

/// A program with the libraries it needs.
fn with_libraries(name: &str, dir: &Path) -> Result<Vec<u8>, Failure> {
    let mut archive = Archive::default();
    let places = ["sbin", "usr/sbin", "usr/bin", "lib/drbd"];
    let places = places.map(|folder| dir.join(folder).join(name));
    let program = places.iter().find(|p| p.is_file()).ok_or_else(|| format!("no {name}"))?;
    archive.file(&format!("bin/{name}"), 0o755, &fs::read(program)?);
    for folder in ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"] {
        let Ok(entries) = fs::read_dir(dir.join(folder)) else { continue };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // `read` follows the links that give a library its short name.
            if name.contains(".so") && path.is_file() {
                archive.file(&format!("lib/{name}"), 0o755, &fs::read(&path)?);
            }
        }
    }
    Ok(archive.finish())
}

fn only(folder: &Path, prefix: &str) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut fit = entries.iter().filter(|e| e.file_name().to_string_lossy().starts_with(prefix));
    let found = fit.next().ok_or_else(|| format!("no {prefix}… in {}", folder.display()))?;
    Ok(found.path())
}

pub fn has(program: &str) -> bool {
    found(program).is_some()
}

fn found(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut places = std::env::split_paths(&paths).chain(more).map(|dir| dir.join(program));
    places.find(|place| place.is_file())
}

fn install(packages: &[&str]) -> Result<(), String> {
    let list = packages.join(" ");
    if !has("apt-get") || !rustix::process::geteuid().is_root() {
        return Err(format!("missing: {list} (installed only by root, with apt-get)"));
    }
    note(&format!("installing {list}"));
    let _ = quiet(Command::new("apt-get").args(["update", "-qq"]));
    let done = quiet(
        Command::new("apt-get")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(packages),
    );
    done.map_err(|e| format!("{list} cannot be installed: {e}"))
}

/// The folder in the cache that holds these packages, unpacked on first use.
fn unpacked(
    what: &str,
    packages: impl Fn() -> Result<Vec<String>, String>,
) -> Result<PathBuf, String> {
    let dir = cache().join(what);
    if dir.is_dir() {
        return Ok(dir);
    }
    if !has("apt-get") || !has("dpkg-deb") {
        return Err(format!("{what}: comes from Debian packages, and there is no apt-get here"));
    }
    note(&format!("unpacking {what} into {}", dir.display()));
    let work = || -> Result<(), Failure> {
        fs::create_dir_all(cache())?;
        // Beside its place, so that it is there whole or not at all.
        let room = tempfile::tempdir_in(cache())?;
        for package in packages()? {
            download(&package, room.path())?;
        }
        let tree = room.path().join("tree");
        fs::create_dir(&tree)?;
        for entry in fs::read_dir(room.path())? {
            let deb = entry?.path();
            if deb.extension().is_some_and(|e| e == "deb") {
                unpack(&deb, &tree)?;
            }
        }
        match fs::rename(&tree, &dir) {
            // Somebody else was quicker.
            Err(_) if dir.is_dir() => Ok(()),
            done => Ok(done?),
        }
    };
    work().map_err(|e| format!("{what}: {e}"))?;
    Ok(dir)
}

fn download(package: &str, into: &Path) -> Result<(), Failure> {
    let get =
        || quiet(Command::new("apt-get").args(["download", "-qq", package]).current_dir(into));
    if get().is_err() {
        // No list of packages yet, or one that is out of date.
        let _ = quiet(Command::new("apt-get").args(["update", "-qq"]));
        get()?;
    }
    Ok(())
}

fn unpack(deb: &Path, tree: &Path) -> Result<(), Failure> {
    let mut archive =
        Command::new("dpkg-deb").arg("--fsys-tarfile").arg(deb).stdout(Stdio::piped()).spawn()?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--no-same-owner", "--directory"]).arg(tree);
    tar.args(UNNEEDED.map(|u| format!("--exclude={u}")));
    let out = archive.stdout.take().ok_or("dpkg-deb has no output")?;
    let unpacked = quiet(tar.stdin(out));
    archive.wait()?;
    unpacked?;
    // Newer kernels come with compressed modules, and insmod of busybox takes plain ones.
    let find = ["-name", "*.ko.xz", "-exec", "xz", "--decompress", "{}", "+"];
    Ok(quiet(Command::new("find").arg(tree).args(find))?)
}

/// The package `linux-image-amd64` stands for.
fn kernel_package() -> Result<Vec<String>, String> {
    let ask = || {
        let mut apt = Command::new("apt-cache");
        let out = apt.args(["depends", "--important", "linux-image-amd64"]).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?;
        let words = text.split_whitespace().filter(|w| w.starts_with("linux-image-"));
        words.map(str::to_owned).find(|w| w != "linux-image-amd64")
    };
    let found = ask().or_else(|| {
        let _ = quiet(Command::new("apt-get").args(["update", "-qq"]));
        ask()
    });
    Ok(vec![found.ok_or("apt knows no package linux-image-amd64")?])
}

/// Runs a command without its output; what it said on standard error is the error.
fn quiet(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name} could not be started: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}", said.trim().lines().next_back().unwrap_or("failed")))
}

#[expect(clippy::print_stderr, reason = "progress is for the terminal")]
fn note(text: &str) {
    eprintln!("lab: {text}");
}

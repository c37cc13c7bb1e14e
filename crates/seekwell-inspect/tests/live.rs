//! The machine the tests run on.
#![allow(clippy::print_stderr)]

use seekwell_inspect::{
    DeviceKind, InspectError, Inspection, NotATarget, Target, TargetKind, all_disks, inspect,
};
use seekwell_sys::Live;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

#[test]
fn the_working_directory_is_a_target_on_a_mounted_file_system() {
    let live = Live::system();
    let target = Target::resolve(&live, ".").unwrap();
    assert_eq!(target.kind, TargetKind::Directory);
    assert_eq!(target.path, std::env::current_dir().unwrap());
    let inspection = inspect(&live, &target);
    let filesystem = inspection.filesystem.unwrap();
    assert!(target.path.starts_with(&filesystem.mount_point.value), "{filesystem:?}");
    assert!(filesystem.size_bytes.unwrap().value >= filesystem.available_bytes.unwrap().value);
    let host = inspection.host;
    assert!(host.kernel.unwrap().value.contains('.'));
    assert!(host.cpus.unwrap().value >= 1);
    assert!(host.memory_bytes.unwrap().value > 1 << 20);
}

#[test]
fn every_disk_here_is_described() {
    let live = Live::system();
    for target in all_disks(&live) {
        let inspection = inspect(&live, &target);
        assert!(inspection.device.is_some(), "{}: {:?}", target.given, inspection.missing);
    }
}

#[test]
fn an_inspection_survives_being_written_and_read() {
    let live = Live::system();
    let inspection = inspect(&live, &Target::resolve(&live, "/").unwrap());
    let text = serde_json::to_string(&inspection).unwrap();
    assert_eq!(serde_json::from_str::<Inspection>(&text).unwrap(), inspection);
}

#[test]
fn the_null_target_has_a_machine_and_nothing_below() {
    let null = Inspection::null();
    assert_eq!(null.kind, TargetKind::Null);
    assert!(null.host.kernel.is_some());
    assert_eq!((null.device, null.filesystem), (None, None));
}

#[test]
fn what_is_no_target_is_refused_by_name() {
    let live = Live::system();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let refused = |path: &str| Target::resolve(&live, path).unwrap_err();

    let Err(InspectError::Unsupported { is, .. }) = Target::resolve(&live, "/dev/null") else {
        panic!("/dev/null is a character device")
    };
    assert_eq!(is, NotATarget::CharacterDevice);

    let _socket = UnixListener::bind(at("socket")).unwrap();
    let error = refused(&at("socket"));
    assert!(error.to_string().contains("is a socket"), "{error}");

    std::os::unix::fs::symlink("/nowhere/at/all", at("link")).unwrap();
    let error = refused(&at("link"));
    assert!(matches!(error, InspectError::DanglingLink { .. }), "{error}");

    std::fs::write(at("file"), "x").unwrap();
    let error = refused(&at("flie"));
    let InspectError::NotFound { near, .. } = error else { panic!("{error}") };
    assert_eq!(near, [at("file")]);
    let error = refused(&at("file/below"));
    assert!(matches!(error, InspectError::NotFound { .. }), "{error}");
    assert!(matches!(refused(""), InspectError::NotFound { .. }));
}

#[test]
fn a_link_to_a_file_is_resolved_and_a_file_is_no_directory() {
    let live = Live::system();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "x").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let target = Target::resolve(&live, link.to_str().unwrap()).unwrap();
    assert_eq!(target.kind, TargetKind::File);
    assert_eq!(target.path, std::fs::canonicalize(&file).unwrap());
    assert!(inspect(&live, &target).filesystem.is_some());
}

/// A loop device of this test's own, given back whatever happens.
struct Loop(String);

impl Loop {
    fn over(file: &Path) -> Result<Self, String> {
        let out = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        let out = out.map_err(|e| format!("losetup: {e}"))?;
        let name = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        if out.status.success() && name.starts_with("/dev/loop") {
            return Ok(Self(name));
        }
        Err(String::from_utf8_lossy(&out.stderr).trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn a_real_loop_device_stands_on_what_its_file_stands_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("back ing");
    std::fs::write(&file, vec![0; 1 << 20]).unwrap();
    let device = match Loop::over(&file) {
        Ok(device) => device,
        Err(reason) => {
            eprintln!("skipped: no loop device here: {reason}");
            return;
        }
    };
    let live = Live::system();
    let target = Target::resolve(&live, &device.0).unwrap();
    assert_eq!(target.kind, TargetKind::BlockDevice);
    let inspection = inspect(&live, &target);
    let found = inspection.device.as_ref().unwrap();
    assert_eq!(found.kind, DeviceKind::Loop);
    assert_eq!(found.size_bytes.as_ref().unwrap().value, 1 << 20);
    let real = std::fs::canonicalize(&file).unwrap().to_str().unwrap().to_owned();
    assert_eq!(found.role.as_ref().unwrap().value, real);
    let below = inspect(&live, &Target::resolve(&live, &file).unwrap());
    let name = |i: &Inspection| i.disks().first().map(|d| d.name.clone());
    let under_loop = found.below.first().map(|d| d.name.clone());
    assert_eq!(under_loop, below.device.as_ref().map(|d| d.name.clone()));
    assert!(below.device.is_none() || name(&inspection) == name(&below));
    assert!(all_disks(&live).iter().any(|t| t.given == device.0));
}

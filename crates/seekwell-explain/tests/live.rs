//! Rules on the machine the tests run on.
#![allow(clippy::print_stderr)]

use seekwell_explain::{Observed, findings};
use seekwell_inspect::{Target, inspect};
use seekwell_sys::Live;
use std::process::Command;
use std::time::{Duration, Instant};

/// A file system of its own in a file, mounted, which is taken down whatever happens.
struct Ext4 {
    folder: tempfile::TempDir,
    device: String,
}

impl Ext4 {
    fn new() -> Result<Self, String> {
        let does = |program: &str, args: &[&str]| -> Result<String, String> {
            let output = Command::new(program).args(args).output();
            let output = output.map_err(|e| format!("{program}: {e}"))?;
            let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
            let ok = output.status.success();
            if ok { Ok(said(&output.stdout)) } else { Err(said(&output.stderr)) }
        };
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (image, at) = (folder.path().join("image"), folder.path().join("mounted"));
        let (image, at) = (image.display().to_string(), at.display().to_string());
        let file = std::fs::File::create(&image).map_err(|e| e.to_string())?;
        file.set_len(32 << 20).map_err(|e| e.to_string())?;
        std::fs::create_dir(&at).map_err(|e| e.to_string())?;
        does("mkfs.ext4", &["-q", "-F", &image])?;
        let device = does("losetup", &["--find", "--show", &image])?;
        let made = Self { folder, device };
        does("mount", &["-t", "ext4", &made.device, &at])?;
        Ok(made)
    }
}

impl Drop for Ext4 {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path().join("mounted")).output();
        let _ = Command::new("losetup").args(["--detach", &self.device]).output();
    }
}

#[test]
fn an_error_that_ext4_met_is_found_after_the_log_has_forgotten_it() {
    // After an aborted journal the table of mounts still said rw, and only the kernel log had it.
    let made = match Ext4::new() {
        Ok(made) => made,
        Err(why) => return eprintln!("skipped: a file system of its own: {why}"),
    };
    let live = Live::system();
    let found = || {
        let target = Target::resolve(&live, &made.device).unwrap();
        let inspection = inspect(&live, &target);
        let all = findings(&Observed::new(&inspection)).into_iter();
        all.filter(|f| f.id == "SW-FS-011").count()
    };
    assert_eq!(found(), 0);
    let name = made.device.trim_start_matches("/dev/");
    let trigger = format!("/sys/fs/ext4/{name}/trigger_fs_error");
    if let Err(error) = std::fs::write(&trigger, "a test of seekwell") {
        return eprintln!("skipped: {trigger}: {error}");
    }
    let until = Instant::now() + Duration::from_secs(10);
    while found() == 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(found(), 1);
}

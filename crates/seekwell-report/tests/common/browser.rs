//! Pages as a person sees them, in headless Chromium.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

const LIMIT: Duration = Duration::from_secs(90);

/// The browser; `None`, with a note about it, if it is not installed.
pub fn browser() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium in PATH");
    }
    found
}

/// The markup of a page after its script ran for 20 virtual seconds; `meanwhile` is called with a
/// number that grows. No host but this one can be reached.
pub fn dom(browser: &Path, address: &str, mut meanwhile: impl FnMut(u32)) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let markup = folder.path().join("dom.html");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg("--disable-dev-shm-usage")
        .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        .args(["--window-size=1280,900", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(address)
        .stdout(fs::File::create(&markup).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("Chromium starts");
    let begun = Instant::now();
    let mut turn = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > LIMIT {
            child.kill().expect("it can be killed");
            child.wait().expect("a child");
            panic!("Chromium did not end within {LIMIT:?}");
        }
        turn += 1;
        meanwhile(turn);
        thread::sleep(Duration::from_millis(20));
    };
    let dom = fs::read_to_string(&markup).expect("the markup");
    assert!(status.success() && !dom.is_empty(), "Chromium ended with {status}");
    dom
}

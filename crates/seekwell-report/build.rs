//! Takes the built page where there is one. Without Node there is none, and the report is then the
//! plain page: the same tables without plots, so that `cargo build` needs nothing but Rust.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?).join("page.html");
    let plain = here.join("src/plain.html");
    let web = here.join("../../web");
    let built = web.join("dist/index.html");
    watch(&here.join("build.rs"));
    watch(&plain);
    if built.is_file() {
        watch(&built);
        fs::copy(&built, &out)?;
    } else {
        // A watched path that does not exist would make every build run this again.
        if web.is_dir() {
            watch(&web);
        }
        fs::copy(&plain, &out)?;
    }
    Ok(())
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

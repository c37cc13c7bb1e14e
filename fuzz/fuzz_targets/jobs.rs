//! A job file may come from anywhere, and what it says decides what is written where. What is
//! accepted is within its bounds, can be laid out and shown, and arguments never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_job::layout::{Found, Identity, Layout, There};
use seekwell_job::{Surroundings, parse_arguments, parse_text};
use std::path::Path;

/// Pieces that a text of random bytes would take long to find, chosen by a byte of the input.
const PIECES: &[&str] = &[
    "[global]\n",
    "[a]\n",
    "\nrw=randrw:",
    "\nbs=4k,8k,",
    "\nbsrange=1k-64k,",
    "\nbssplit=4k/60:64k/40,",
    "\nrandom_distribution=zoned:60/10:40/90",
    "\nrandom_distribution=sequence:",
    "\nsize=(2^30-1)*$ncpus",
    "\nverify=crc32c\nverify_interval=",
    "\nverify_pattern=0xcafe%o\"",
    "\nfilename=/dev/sda\\:1:b",
    "\nfilename_format=$jobnum$filenum",
    "\nnumjobs=",
    "\nnrfiles=",
    "\noffset_increment=",
    "\nsteadystate=bw_slope:0.3%\nss_dur=",
    "\nignore_error=EIO:28,,",
    "\nsize=1m\ndedupe_mode=working_set\ndedupe_percentage=",
    "\nrw=randwrite\nsprandom=1\nspr_op=",
    "\nzonesize=64k\nzonerange=",
    "\nstonewall\nwait_for=a",
    "\ninclude x\n",
    "${V}",
    "%",
    "=",
];

/// A machine whose only file includes itself.
fn around() -> Surroundings {
    let mut around = Surroundings::fixed();
    around.variables.insert("V".to_owned(), "64k;#".to_owned());
    around.read = |path| match path.file_name() {
        Some(name) if name == "x" => Ok(b"bs=8k\niodepth=4\ninclude y\n".to_vec()),
        Some(name) if name == "y" => Ok(b"include x\n".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    around
}

fuzz_target!(|data: &[u8]| {
    let mut text = String::new();
    for &byte in data {
        match PIECES.get(usize::from(byte).wrapping_sub(128)) {
            Some(piece) => text.push_str(piece),
            None => text.push(char::from(byte)),
        }
    }
    let around = around();
    let words: Vec<&str> = text.split('\n').collect();
    let _ = parse_arguments(&words, &around);
    let Ok(file) = parse_text(&text, Path::new("fuzz.fio"), &around) else { return };
    let mut clones = 0;
    for job in &file.jobs {
        clones += job.clones;
        assert!(job.max_block() > 0 && job.max_block() <= 64 << 20);
        assert!(job.engine.depth > 0 && job.files.count > 0 && job.extent.loops > 0);
        for blocks in job.blocks.iter() {
            assert!(blocks.min() > 0 && blocks.min() <= blocks.max(), "{blocks:?}");
        }
        for name in ["rw", "bs", "iodepth", "numjobs"] {
            assert!(job.options.contains_key(name));
        }
    }
    assert!(clones <= 4096);
    // Laying out is linear in clones and files, of which a few suffice here.
    if file.jobs.iter().all(|job| job.clones * job.files.count <= 1024) {
        let sizes = [(There::Nothing, 0), (There::File, 1 << 20), (There::Device, u64::MAX)];
        for (there, size_bytes) in sizes {
            let look = |path: &Path| {
                let identity = Identity::Path(path.to_path_buf());
                Ok(Found { there, size_bytes, identity })
            };
            let layout = Layout::of(&file.jobs, |_, _| None, None, look);
            assert!(!seekwell_job::show(&file, layout.as_ref().ok()).is_empty());
        }
    }
});

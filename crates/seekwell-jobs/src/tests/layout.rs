//! Files and bytes before anything runs.

use super::{job, jobs, read};
use crate::layout::{self, Bound, Found, JobLayout, Traffic};
use crate::show;
use proptest::prelude::*;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// The layout of a job on a machine without files but a disk of 1 GiB.
fn of(options: &str) -> JobLayout {
    let text = format!("[a]\n{}\n", options.replace(' ', "\n"));
    layout::layout(&read(&text).unwrap(), machine).remove(0)
}

fn machine(path: &Path) -> Found {
    match path.to_str() {
        Some("/dev/sdz") => Found::Device(Some(1 << 30)),
        Some("old") => Found::File(10 * MIB),
        _ => Found::Absent,
    }
}

fn traffic(read: u64, write: u64, trim: u64) -> Traffic {
    Traffic { read, write, trim }
}

#[test]
fn clones_have_files_of_their_own_unless_they_are_named() {
    let own = of("rw=write size=4m nrfiles=2 numjobs=2 directory=x:y");
    let paths: Vec<_> = own.files.iter().map(|f| f.path.to_str().unwrap().to_owned()).collect();
    assert_eq!(paths, ["x/a.0.0", "x/a.0.1", "y/a.1.0", "y/a.1.1"]);
    assert!(own.files.iter().all(|f| f.length == 2 * MIB && f.traffic.write == 2 * MIB));
    let shared = of("rw=write size=4m numjobs=3 filename=one");
    assert_eq!(shared.files.len(), 1);
    assert_eq!((shared.files[0].clones, shared.total().write), (3, 12 * MIB));
}

#[test]
fn made_names_follow_their_format() {
    let job = job("size=1m nrfiles=2 filename_format=$JobName-$filenum/$jobnum.dat$$");
    let paths = layout::paths(&job, 3, machine);
    assert_eq!(paths, [Path::new("a-0/3.dat$$"), Path::new("a-1/3.dat$$")]);
    let mut named = jobs("[/dev/sdz]\n").remove(0);
    assert_eq!(layout::paths(&named, 0, machine), [Path::new("/dev/sdz")]);
    named.name = "old".to_owned();
    assert_eq!(layout::paths(&named, 0, machine), [Path::new("old.0.0")], "only for devices");
}

#[test]
fn bytes_follow_mix_loops_bounds_and_verifying() {
    let total = |options: &str| of(options).total();
    assert_eq!(total("rw=randrw rwmixread=75 size=4m"), traffic(3 * MIB, MIB, 0));
    assert_eq!(total("rw=write size=4m loops=3"), traffic(0, 12 * MIB, 0));
    assert_eq!(total("rw=write size=4m io_size=1m"), traffic(0, MIB, 0));
    assert_eq!(total("rw=write size=4m number_ios=10"), traffic(0, 40960, 0));
    assert_eq!(total("rw=trimwrite size=4m"), traffic(0, 4 * MIB, 4 * MIB));
    assert_eq!(total("rw=write size=4m verify=md5"), traffic(4 * MIB, 4 * MIB, 0));
    assert_eq!(total("rw=write size=4m verify=md5 do_verify=0"), traffic(0, 4 * MIB, 0));
    assert_eq!(total("rw=write size=4m verify=md5 verify_only"), traffic(4 * MIB, 0, 0));
    assert_eq!(total("rw=write size=4m create_only=1"), traffic(0, 0, 0));
    assert_eq!(total("rw=write filesize=1m nrfiles=3"), traffic(0, 3 * MIB, 0));
    assert_eq!(total("filesize=1m size=8m"), traffic(8 * MIB, 0, 0));
}

#[test]
fn a_device_bounds_its_region_and_a_file_grows() {
    let disk =
        of("filename=/dev/sdz rw=write offset=50% size=900m numjobs=2 offset_increment=256m");
    assert_eq!(disk.files[0].length, 1 << 30);
    assert_eq!(disk.total().write, (512 + 256) * MIB);
    let file = of("filename=old size=16m");
    assert_eq!((file.files[0].found, file.files[0].prepare), (Found::File(10 * MIB), 6 * MIB));
    assert_eq!(of("filename=old").total().read, 10 * MIB);
    assert_eq!(of("filename=old size=50%").total().read, 5 * MIB);
    assert_eq!(of("filename=new").bound, Bound::Unknown);
    assert!(matches!(of("filename=old runtime=3").bound, Bound::Time(_)));
    assert_eq!(of("filename=old fill_device=1 rw=write").bound, Bound::Room);
    assert_eq!(of("read_iolog=x").bound, Bound::Trace);
    assert_eq!(of("ioengine=null size=1g").files, []);
}

#[test]
fn what_is_at_a_path_is_told_without_opening_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    assert_eq!(layout::look(&path), Found::Absent);
    std::fs::write(&path, [0; 77]).unwrap();
    assert_eq!(layout::look(&path), Found::File(77));
    assert_eq!(layout::look(folder.path()), Found::Other);
}

#[test]
fn jobs_are_shown_as_they_were_understood() {
    let text = "[global]\nioengine=libaio\ndirect=1\n\
                [fill]\nrw=write\nbs=1m\nsize=4m\nfilename=/dev/sdz\n\
                [mix]\nstonewall\nrw=randrw\nrwmixread=70\nbssplit=4k/90:64k/10\niodepth=8\n\
                size=10m\n\
                numjobs=2\nruntime=30\ntime_based\nramp_time=5\nrate_iops=100,50\nrwmixwrite=30\n\
                softrandommap=1\n";
    let file = read(text).unwrap();
    let shown = show(&file, &layout::layout(&file, machine));
    insta::assert_snapshot!(shown, @r"
    job fill, group 0
      requests   sequential writes
      size       1 MiB
      engine     libaio, 1 outstanding, past the page cache
      starts     at once
      ends       when its size is done
      file       /dev/sdz (block device, 1 GiB): write 4 MiB

    job mix × 2, group 1
      requests   random reads and writes, 70 % reads
      size       90 % 4 KiB + 10 % 64 KiB
      engine     libaio, 8 outstanding, past the page cache
      starts     when all jobs above are done
      ends       after 30.0 s
      measures   after the first 5.00 s
      offsets    anywhere with equal chance, each block once
      at most    read 100 requests/s, write 50 requests/s
      file       mix.0.0 (absent, 10 MiB to be made first): read 7 MiB, write 3 MiB, in one pass
      file       mix.1.0 (absent, 10 MiB to be made first): read 7 MiB, write 3 MiB, in one pass

    warning: job `mix`: softrandommap: no map of used blocks is needed here, so it cannot fail
    ");
}

proptest! {
    #[test]
    fn files_together_get_what_the_job_does(
        size in 1_u64..1 << 20, files in 1_u32..9, clones in 1_u32..5, loops in 1_u32..4,
    ) {
        let size = size * 4096 * u64::from(files);
        let many = format!("nrfiles={files} numjobs={clones} loops={loops}");
        let options = format!("rw=write size={size} {many}");
        let total = of(&options).total();
        prop_assert_eq!(total.write, size * u64::from(clones) * u64::from(loops));
    }
}

//! Files and bytes before anything runs.

use super::{job, jobs, read};
use crate::job::By;
use crate::layout::{
    Found, Identity, Layout, LayoutError, Recorded, There, Traffic, Unfit, look, paths,
};
use crate::show;
use proptest::prelude::*;
use seekwell_access::AccessError;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// The layout of these options as a job, on a machine without files but a disk of 1 GiB and a file.
fn of(options: &str) -> Result<Layout, LayoutError> {
    let text = format!("[a]\n{}\n", options.replace(' ', "\n"));
    Layout::of(&read(&text).unwrap().jobs, |_, _| None, None, machine)
}

fn machine(path: &Path) -> Result<Found, AccessError> {
    let (there, size_bytes) = match path.to_str() {
        Some("/dev/sdz") => (There::Device, 1 << 30),
        Some("old") => (There::File, 10 * MIB),
        _ => (There::Nothing, 0),
    };
    Ok(Found { there, size_bytes, identity: Identity::Path(path.to_path_buf()) })
}

/// What a job with these options does, over all its files.
fn total(options: &str) -> Traffic {
    let text = format!("[a]\n{}\n", options.replace(' ', "\n"));
    let mut sum = Traffic::default();
    let layout = of(options).unwrap();
    layout.shares(0, &jobs(&text)[0]).iter().for_each(|share| sum += share.traffic);
    sum
}

/// Path, first byte and end of each part that each clone uses.
fn regions(options: &str) -> Vec<(String, u64, u64)> {
    let layout = of(options).unwrap();
    let uses = layout.members.iter().flat_map(|member| &member.uses);
    let part = |used: &crate::layout::Use| {
        let path = layout.places[used.place].path.display().to_string();
        (path, used.region.start, used.region.start + used.region.bytes)
    };
    uses.map(part).collect()
}

fn traffic(read: u64, write: u64, trim: u64) -> Traffic {
    Traffic { read, write, trim }
}

/// fio 3.33 counts the same: 170 requests of 48k in 8m, 171 if the same is asked for as `io_size`.
#[test]
fn a_pass_ends_where_no_request_fits_any_more() {
    let loop_bytes = |options: &str| of(options).unwrap().members[0].loop_bytes;
    for rw in ["write", "randwrite"] {
        assert_eq!(loop_bytes(&format!("rw={rw} bs=48k size=8m filename=one")), 170 * (48 << 10));
    }
    assert_eq!(loop_bytes("rw=write bs=48k size=16m io_size=8m filename=one"), 8 * MIB);
    assert_eq!(loop_bytes("rw=write bs=48k size=200k nrfiles=2 directory=x"), 4 * (48 << 10));
    assert_eq!(loop_bytes("rw=write bsrange=4k-48k size=8m filename=one"), 8 * MIB);
}

#[test]
fn clones_have_files_of_their_own_unless_they_are_named() {
    let own = regions("rw=write size=4m nrfiles=2 numjobs=2 directory=x:y");
    let part = |name: &str| (name.to_owned(), 0, 2 * MIB);
    assert_eq!(own, ["x/a.0.0", "x/a.0.1", "y/a.1.0", "y/a.1.1"].map(part));
    let shared = of("rw=write size=4m numjobs=3 filename=one").unwrap();
    assert_eq!((shared.places.len(), shared.members.len()), (1, 3));
    assert_eq!(total("rw=write size=4m numjobs=3 filename=one").write, 12 * MIB);
}

#[test]
fn made_names_follow_their_format() {
    let job = job("size=1m nrfiles=2 filename_format=$JobName-$filenum/$jobnum.dat$$");
    let made = paths(&job, 3, machine);
    assert_eq!(made, [Path::new("a-0/3.dat$$"), Path::new("a-1/3.dat$$")]);
    let mut named = jobs("[/dev/sdz]\n").remove(0);
    assert_eq!(paths(&named, 0, machine), [Path::new("/dev/sdz")]);
    named.name = "old".to_owned();
    assert_eq!(paths(&named, 0, machine), [Path::new("old.0.0")], "only for devices");
}

#[test]
fn bytes_follow_mix_loops_bounds_and_verifying() {
    assert_eq!(total("rw=randrw rwmixread=75 size=4m"), traffic(3 * MIB, MIB, 0));
    assert_eq!(total("rw=write size=4m loops=3"), traffic(0, 12 * MIB, 0));
    assert_eq!(total("rw=write size=4m io_size=1m"), traffic(0, MIB, 0));
    assert_eq!(total("rw=write size=4m number_ios=10"), traffic(0, 40960, 0));
    assert_eq!(total("rw=trimwrite size=4m"), traffic(0, 4 * MIB, 4 * MIB));
    assert_eq!(total("rw=write size=4m verify=md5"), traffic(4 * MIB, 4 * MIB, 0));
    assert_eq!(total("rw=write size=4m verify=md5 do_verify=0"), traffic(0, 4 * MIB, 0));
    assert_eq!(total("rw=write size=4m create_only=1"), traffic(0, 0, 0));
    assert_eq!(total("rw=write filesize=1m nrfiles=3"), traffic(0, 3 * MIB, 0));
    assert_eq!(total("filesize=1m size=8m"), traffic(8 * MIB, 0, 0));
}

#[test]
fn sizes_offsets_and_what_is_there_decide_which_part_a_clone_uses() {
    let parts = |options: &str| {
        regions(options).into_iter().map(|(_, start, end)| (start, end)).collect::<Vec<_>>()
    };
    let disk = "filename=/dev/sdz rw=write";
    assert_eq!(parts(disk), [(0, 1 << 30)]);
    assert_eq!(parts(&format!("{disk} offset=75%")), [(768 * MIB, 1 << 30)]);
    assert_eq!(parts(&format!("{disk} size=25%")), [(0, 256 * MIB)]);
    let clones = parts(&format!("{disk} size=4m offset=1m numjobs=2 offset_increment=8m"));
    assert_eq!(clones, [(MIB, 5 * MIB), (9 * MIB, 13 * MIB)]);
    assert_eq!(parts("filename=old"), [(0, 10 * MIB)]);
    assert_eq!(parts("filename=old size=50% offset=2m"), [(2 * MIB, 7 * MIB)]);
    assert_eq!(parts("filename=old rw=read file_append=1"), [(0, 10 * MIB)]);
    assert_eq!(parts("size=4m offset=1m nrfiles=2"), [(MIB, 3 * MIB), (MIB, 3 * MIB)]);
    let drawn = parts("filesize=1m-2m nrfiles=5");
    assert!(drawn.iter().all(|(_, end)| (MIB..=2 * MIB).contains(end)), "{drawn:?}");
    assert_eq!(parts("ioengine=null size=1g"), [(0, 1 << 30)]);
    let unfit = |options: &str| match of(options) {
        Err(LayoutError::Unfit { why, .. }) => why,
        other => panic!("{options}: {other:?}"),
    };
    assert_eq!(unfit("filename=new"), Unfit::NoSize);
    assert_eq!(unfit("filename=new size=1m allow_file_create=0"), Unfit::NotAllowed);
    let (start, end, size) = (0, 16 * MIB, 10 * MIB);
    assert_eq!(unfit("filename=old size=16m"), Unfit::TooSmall { start, end, size });
    let (end, size) = (2 << 30, 1 << 30);
    assert_eq!(unfit(&format!("{disk} size=2g")), Unfit::TooSmall { start, end, size });
    let nothing = unfit("filename=old offset=100%");
    assert_eq!(nothing, Unfit::NoRoom { bytes: 0, block: 4096 });
}

#[test]
fn a_trace_says_which_files_are_used_and_how_far() {
    let makes = By { read: true, write: false, trim: true };
    let recorded = [Recorded { path: "old".into(), end_bytes: 5000, makes }];
    let jobs = jobs("[a]\nread_iolog=x\n");
    let layout = Layout::of(&jobs, |_, _| Some(&recorded), None, machine).unwrap();
    let place = &layout.places[0];
    assert_eq!((place.end, place.is_read), (8192, true));
    assert_eq!(place.written_by.as_deref(), Some("a"), "discarding is writing");
    let beyond = [Recorded { end_bytes: 11 * MIB, ..recorded[0].clone() }];
    let layout = Layout::of(&jobs, |_, _| Some(&beyond), None, machine);
    let why = Unfit::TooSmall { start: 0, end: 11 * MIB, size: 10 * MIB };
    assert!(matches!(layout, Err(LayoutError::Unfit { why: found, .. }) if found == why));
}

#[test]
fn what_is_at_a_path_is_told_and_what_can_never_be_a_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    assert_eq!(look(&path).unwrap().there, There::Nothing);
    std::fs::write(&path, [0; 77]).unwrap();
    let found = look(&path).unwrap();
    assert_eq!((found.there, found.size_bytes), (There::File, 77));
    assert!(matches!(look(folder.path()), Err(AccessError::NotMeasurable { .. })));
    for missing in ["/dev/loopzz", "/no/such/folder/f"] {
        assert!(matches!(look(Path::new(missing)), Err(AccessError::Missing { .. })), "{missing}");
    }
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
    let shown = show(&file, Some(&Layout::of(&file.jobs, |_, _| None, None, machine).unwrap()));
    insta::assert_snapshot!(shown, @r"
    job fill, group 0
      requests   sequential writes
      size       1 MiB
      engine     libaio, 1 outstanding, past the page cache
      starts     at once
      ends       when its size is done
      file       /dev/sdz (block device, 1 GiB) from 0 B to 4 MiB: write 4 MiB

    job mix × 2, group 1
      requests   random reads and writes, 70 % reads
      size       90 % 4 KiB + 10 % 64 KiB
      engine     libaio, 8 outstanding, past the page cache
      starts     when all jobs above are done
      ends       after 30.0 s
      measures   after the first 5.00 s
      offsets    anywhere with equal chance, each block once
      at most    read 100 requests/s, write 50 requests/s
      file       mix.0.0 (temporary file of 10 MiB): read 7 MiB, write 3 MiB, in one pass
      file       mix.1.0 (temporary file of 10 MiB): read 7 MiB, write 3 MiB, in one pass

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
        prop_assert_eq!(total(&options).write, size * u64::from(clones) * u64::from(loops));
    }
}

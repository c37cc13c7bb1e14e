use super::*;
use crate::testing;

const PLAIN: Style = Style { color: false };

#[test]
fn a_rich_run_at_eighty_columns() {
    insta::assert_snapshot!(terminal(&testing::rich().0, 80, PLAIN), @r"
    Example NV-1000 Pro (nvme0n1), 1 TB, nvme (nvme at 0000:01:00.0), ext4 at /home
    20261120-231502-checkup-5f3a · 2026-11-20 23:15:02 UTC · Linux 6.18.2-amd64 ·
      seekwell 0.1.0 · io_uring

    sequential read               3,423 MB/s  3,418 – 3,454 in 3 repeats
    sequential write              2,723 MB/s  2,696 – 2,764 in 3 repeats
    random read 4 KiB, depth 1    13.4k IOPS  13.2k – 13.4k in 3 repeats
    random read 4 KiB, depth 128   339k IOPS  338k – 344k in 3 repeats
    commits (write and flush)     1,409 /s    p99 1.70 ms in 3 repeats

    phase                                     rate   IOPS      p50      p99  spread
    cached read 1 MiB, depth 1 (page        10,450  9,966  99.8 µs   109 µs   1.6 %
    cache, as hdparm -T)
    sequential read 1 MiB, depth 4           3,423  3,264  1.19 ms  1.45 ms   1.0 %
    random read 4 KiB, depth 1                54.9  13.4k  72.2 µs   106 µs   1.6 %
    random read 4 KiB, depth 2                 107  26.2k  73.2 µs   109 µs   0.9 %
    random read 4 KiB, depth 4                 210  51.3k  74.2 µs   110 µs   1.4 %
    random read 4 KiB, depth 8                 391  95.3k  79.4 µs   118 µs   2.6 %
    random read 4 KiB, depth 16                711   174k  88.6 µs   132 µs   2.0 %
    random read 4 KiB, depth 32              1,062   259k   118 µs   175 µs   3.6 %
    random read 4 KiB, depth 64              1,364   333k   183 µs   272 µs   2.2 %
    random read 4 KiB, depth 128             1,390   339k   367 µs   545 µs   1.6 %
    sequential write 1 MiB, depth 4          2,723  2,597  1.48 ms  3.16 ms   2.5 %
    random write 4 KiB, depth 1                168  41.1k  21.4 µs  40.2 µs   2.3 %
    random write 4 KiB, depth 32               941   230k   131 µs   241 µs   1.5 %
    70 % reads, 30 % writes, random 4 KiB,     390  95.3k   232 µs   684 µs   1.7 %
    depth 32: read
    70 % reads, 30 % writes, random 4 KiB,     167  40.7k   148 µs   395 µs   1.7 %
    depth 32: write
    commit: write 4 KiB and flush, depth 1       —  1,409   684 µs  1.70 ms   4.3 %
    rate in MB/s of 10^6 bytes; spread: highest less lowest repeat, over the median
    hdparm prints MiB/s as MB/sec, figures 4.6 % lower

    Findings
    ▲ WARNING The disk's PCIe link runs at 2 lanes of 4. [SW-LINK-001]
        seen: current link width 2
              (/sys/bus/pci/devices/0000:01:00.0/current_link_width)
        seen: largest link width 4
              (/sys/bus/pci/devices/0000:01:00.0/max_link_width)
        seen: sequential read 3,423 MB/s (seq-read-1m)
        why:  At this width the link carries half of what the disk can give, so
              sequential rates end at the link and not at the disk.
        do:   Move the disk to the slot nearest the CPU, then look again:
              seekwell inspect /dev/nvme0n1

    ● NOTE Requests are not merged by a scheduler, as is right for this disk.
        [SW-QUEUE-003]
        seen: scheduler none (/sys/block/nvme0n1/queue/scheduler)
        why:  A disk this fast gains nothing from sorting requests, and sorting
              costs CPU time.
        do:   Nothing: leave it as it is.

    1 fact about the target could not be read: seekwell inspect says which.
    ");
}

#[test]
fn a_degraded_run_with_hostile_names_at_eighty_columns() {
    insta::assert_snapshot!(terminal(&testing::degraded().0, 80, PLAIN), @r"
    ␛[2J␛]0;owned␇<script>alert(1)</script></template>|`x` (sdz), fuse.<b> at
      /mnt/long-name-long-name-long-name-long-name-long-name-long-name-long-name-lon
      g-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-l
      ong-name-long-name-long-name-long-name-long-name-
    20261120-231502-checkup-5f3a · <b>label</b>� · 2026-11-20 23:15:02 UTC ·
      seekwell 0.1.0 · threads
    ▲ INCOMPLETE: this run was stopped; finished phases are shown
    ✕ INVALID: the disk was hot: <img src=x onerror=alert(1)> 71 °C
      io_uring is switched off (kernel.io_uring_disabled = 2)

    random read 4 KiB, depth 1  414 IOPS  one repeat

    phase                       rate  IOPS      p50  p99   spread
    random read 4 KiB, depth 1  1.70   414  2.34 ms    —  one run
    rate in MB/s of 10^6 bytes; spread: highest less lowest repeat, over the median
    - seq-read-1m: repeat 1 left out: served by a cache
    - seq-write-1m, rand-write-4k-d1: not run: the target is only read: writing
      would destroy what it holds

    Findings
    ✕ ERROR Model ␛[2J␛]0;owned␇<script>alert(1)</script></template>|`x` is not what
        it says [SW-TEST-001]
        seen: a␛[31mred␛[0m value
              (/sys/very-long-component/very-long-component/very-long-component/very
              -long-component/very-long-component/very-long-component/very-long-comp
              onent/very-long-component/very-long-component/very-long-component/very
              -long-component/very-long-component//model)
        why:  Because <script>alert(2)</script> | pipes and `ticks` occur.
        do:   echo '</pre><script>alert(3)</script>' > /dev/null
              ␛[5msecond line

    1 fact about the target could not be read: seekwell inspect says which.
    ");
}

#[test]
fn an_array_at_forty_columns() {
    insta::assert_snapshot!(terminal(&testing::array().0, 40, PLAIN), @r"
    dm-0 (lvm vg0-srv) over 2 disks, EXAMPLE
      HD-2000 A and EXAMPLE HD-2000 B, sata
      (ahci at 0000:00:17.0), xfs at /srv
    20261120-234410-bench-09c1 · mirror,
      modelled · 2026-11-20 23:15:02 UTC ·
      Linux 6.18.2-amd64 · seekwell 0.1.0 ·
      io_uring
    ◇ MODELLED: figures of a model, not of a
      disk

    sequential read: 190 MB/s (190 – 192 in
      3 repeats)
    random read 4 KiB, depth 1: 71.6 IOPS
      (70.6 – 71.7 in 3 repeats)
    random read 4 KiB, depth 32: 176 IOPS
      (176 – 182 in 3 repeats)

    sequential read 1 MiB, depth 4
      190 MB/s · 182 IOPS · p50 21.9 ms ·
      spread 1.0 %
    random read 4 KiB, depth 1
      0.29 MB/s · 71.6 IOPS · p50 12.8 ms ·
      spread 1.6 %
    random read 4 KiB, depth 8
      0.58 MB/s · 141 IOPS · p50 52.2 ms ·
      spread 2.6 %
    random read 4 KiB, depth 32
      0.72 MB/s · 176 IOPS · p50 181 ms ·
      spread 3.6 %
    rate in MB/s of 10^6 bytes; spread:
    highest less lowest repeat, over the
    median
    cost: 2,600 ns of CPU for a request, 100
      % reached the device
    the engine alone costs 412 ns for a
    request (null target, depth 32)

    Findings
    No problems were found.
    ");
}

#[test]
fn an_inspection_of_an_array_at_eighty_columns() {
    insta::assert_snapshot!(inspect(&testing::array().0.inspection, 80, PLAIN), @r"
    dm-0 (lvm vg0-srv) over 2 disks, EXAMPLE HD-2000 A and EXAMPLE HD-2000 B, sata
      (ahci at 0000:00:17.0), xfs at /srv
    Linux 6.18.2-amd64 · AMD Ryzen 7 7700 8-Core Processor · 16 CPUs · 33.5 GB of
      memory

    Attachment
    /srv · xfs from /dev/mapper/vg0-srv, 980 GB, 412 GB free
    └ dm-0 · device mapper, lvm vg0-srv, 1 TB
      └ md0 · software RAID, raid1, 2 TB
        └ sda · disk, EXAMPLE HD-2000 A, 2 TB
          └ ata1 · port: 6.0 Gbps of 6.0 Gbps
            └ 0000:00:17.0 · controller: SATA controller, driver ahci
              └ node 0 · cpu: 4 CPUs near the disk
        └ sdb · disk, EXAMPLE HD-2000 B, 2 TB
          └ ata2 · port: 6.0 Gbps of 6.0 Gbps
            └ 0000:00:17.0 · controller: SATA controller, driver ahci
              └ node 0 · cpu: 4 CPUs near the disk

    Queue of sda
    in /sys/block/sda/
    scheduler    mq-deadline  queue/scheduler
    queue depth  32           device/queue_depth
    rotational   yes          queue/rotational

    Queue of sdb
    in /sys/block/sdb/
    scheduler    mq-deadline  queue/scheduler
    queue depth  32           device/queue_depth
    rotational   yes          queue/rotational

    Notes
    - The target is a mirror: reads are shared between its members.
    ");
}

#[test]
fn a_hostile_inspection_at_eighty_columns() {
    insta::assert_snapshot!(inspect(&testing::degraded().0.inspection, 80, PLAIN), @r"
    ␛[2J␛]0;owned␇<script>alert(1)</script></template>|`x` (sdz), fuse.<b> at
      /mnt/long-name-long-name-long-name-long-name-long-name-long-name-long-name-lon
      g-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-l
      ong-name-long-name-long-name-long-name-long-name-

    Attachment
    /mnt/long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-
      name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-lon
      g-name-long-name-long-name-long-name-long-name- · fuse.<b> from a|b␛[0m, 980
      GB, 412 GB free
    └ sdz · disk, ␛[2J␛]0;owned␇<script>alert(1)</script></template>|`x`, serial
        �gpj.exe␀
      └ usb <2-1> · hub:
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

    Notes
    - A note with <script>alert(4)</script>␊and a second line.

    Could not be read
    - the kernel's name: <i>refused</i> (uname(2)␛[1A)
    ");
}

/// What a terminal shows of a text: everything but the colour sequences the program writes itself.
fn without_colour(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.split_once('m').expect("a colour sequence ends with m").1;
    }
    out + rest
}

#[test]
fn no_line_is_wider_than_asked_for_with_or_without_colour() {
    for (document, _) in [testing::rich(), testing::degraded(), testing::array()] {
        for width in [24, 40, 71, 72, 80, 120] {
            for color in [false, true] {
                let style = Style { color };
                for text in
                    [terminal(&document, width, style), inspect(&document.inspection, width, style)]
                {
                    for line in without_colour(&text).lines() {
                        assert!(columns(line) <= width, "{} > {width}: {line}", columns(line));
                    }
                }
            }
        }
    }
}

#[test]
fn colour_says_nothing_that_words_do_not() {
    let (document, _) = testing::rich();
    let coloured = terminal(&document, 80, Style { color: true });
    assert!(coloured.contains("\u{1b}["));
    assert_eq!(without_colour(&coloured), terminal(&document, 80, PLAIN));
}

#[test]
fn no_control_character_of_a_disk_reaches_the_terminal() {
    let (document, _) = testing::degraded();
    let all = terminal(&document, 80, PLAIN) + &inspect(&document.inspection, 80, PLAIN);
    let found = all.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(found, None);
    assert!(all.contains("␛[2J"), "the sequence is shown as text");
}

#[test]
fn a_list_of_runs_keeps_to_its_width_and_obeys_no_label() {
    let rows = [
        vec!["20261120-231502-checkup-5f3a".to_owned(), "\u{1b}[2Jlabel".to_owned()],
        vec!["short".to_owned(), "a label of many words that must be wrapped".to_owned()],
    ];
    let text = table(&["id", "label"], rows, 48);
    assert!(text.lines().all(|line| columns(line) <= 48), "{text}");
    insta::assert_snapshot!(text, @r"
    id                       label
    20261120-231502-checkup  ␛[2Jlabel
    -5f3a
    short                    a label of many words
                             that must be wrapped
    ");
}

/// What a run with statements about limits shows of them.
fn limited(width: usize) -> String {
    let shown = terminal(&testing::limited().0, width, PLAIN);
    assert!(!shown.contains("Findings") && !shown.contains("No problems"), "{shown}");
    assert!(shown.lines().all(|line| columns(line) <= width), "{shown}");
    let (head, rest) = shown.split_once("\nsequential read").expect("figures");
    let (_, table) = rest.split_once("\nWhat limits each phase").expect("a table");
    let (table, _) = table.split_once("\n1 fact").or(table.split_once("\n\n")).expect("an end");
    let from = head.find("\n\n").expect("the sentences stand alone");
    format!("{}\n\n…{table}", head[from..].trim())
}

#[test]
fn what_limits_a_run_comes_first_and_then_by_phase_at_eighty_columns() {
    insta::assert_snapshot!(limited(80), @r"
    Sequential reads reach 98 % of the PCIe link, which runs at 2 lanes of 4.
    Random reads wait for each other up to depth 64.

    …
    phase              limited by                     share                 how sure
    seq-read-1m        the PCIe link at 2 lanes of 4  98 % of 3,500 MB/s    shown
                       then the flash, up to ×2.0
    rand-read-4k-d1,   each request waits for the     —                     likely
    rand-read-4k-d2    one before it
                       then the link, up to ×33 – ×64
    rand-read-4k-d128  the queue of 128               99 % of 128 commands  shown
                       then the flash
    seq-write-1m       the flash                      —                     likely
                       or the link or the write cache; to tell: seekwell bench --rw
                       write --bs 1m --sustained /dev/nvme0n1
    commit-4k          not known                      —                     possible
    ");
}

#[test]
fn what_would_come_next_is_a_column_where_there_is_room() {
    insta::assert_snapshot!(limited(130), @r"
    Sequential reads reach 98 % of the PCIe link, which runs at 2 lanes of 4.
    Random reads wait for each other up to depth 64.

    …
    phase              limited by                                share                 how sure  next
    seq-read-1m        the PCIe link at 2 lanes of 4             98 % of 3,500 MB/s    shown     then the flash, up to ×2.0
    rand-read-4k-d1,   each request waits for the one before it  —                     likely    then the link, up to ×33 – ×64
    rand-read-4k-d2
    rand-read-4k-d128  the queue of 128                          99 % of 128 commands  shown     then the flash
    seq-write-1m       the flash                                 —                     likely    —
                       or the link or the write cache; to tell: seekwell bench --rw write --bs 1m --sustained /dev/nvme0n1
    commit-4k          not known                                 —                     possible  —
    ");
}

#[test]
fn what_limits_each_phase_is_a_list_at_forty_columns() {
    insta::assert_snapshot!(limited(40), @r"
    Sequential reads reach 98 % of the PCIe
    link, which runs at 2 lanes of 4.
    Random reads wait for each other up to
    depth 64.

    …
    seq-read-1m
      the PCIe link at 2 lanes of 4 · 98 %
      of 3,500 MB/s · shown · then the
      flash, up to ×2.0
    rand-read-4k-d1, rand-read-4k-d2
      each request waits for the one before
      it · likely · then the link, up to ×33
      – ×64
    rand-read-4k-d128
      the queue of 128 · 99 % of 128
      commands · shown · then the flash
    seq-write-1m
      the flash · likely
      or the link or the write cache; to
      tell: seekwell bench --rw write --bs
      1m --sustained /dev/nvme0n1
    commit-4k
      not known · possible
    ");
}

#[test]
fn a_summary_beside_findings_leaves_them_as_they_are() {
    let (mut document, _) = testing::rich();
    document.summary = vec!["It is fast.".into()];
    let shown = terminal(&document, 80, PLAIN);
    assert!(shown.contains("\n\nIt is fast.\n\nsequential read"), "{shown}");
    assert!(shown.contains("\nFindings\n▲ WARNING"), "{shown}");
}

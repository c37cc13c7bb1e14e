use super::*;

fn detected(head: &[u8]) -> Option<&'static str> {
    detect(head, Path::new("x")).map(|format| format.name)
}

#[test]
fn each_format_is_known_by_its_first_line() {
    for (line, format) in [
        ("fio version 2 iolog\n", "iolog"),
        ("128166372003061629,hm,1,Read,383496192,32768,413\n", "msr"),
        ("419,W,8792731648,16384,1577808144360767\n", "alibaba"),
        ("device_id,opcode,offset,length,timestamp\n1,R,2,3,4\n", "alibaba"),
        ("1538323200,3904,8,1,1283\n", "tencent"),
        ("Timestamp,Response,IOType,LUN,Offset,Size\n", "systor"),
        ("1455592378.01,0.0002,R,4,56153677824,8192\n", "systor"),
        ("0,20941264,8192,W,0.551706\n", "spc"),
        ("0 4892 syslogd 904265560 8 W 6 0 531e779f9a0b5c\n", "fiu"),
        ("13.191135\t30\t0\t5\t1\n", "disksim"),
        ("W Hit    4583176   4    663.00000  45422.00000\n", "disksim-validate"),
        ("  8,0    1  1   0.000000000 697 Q WS 223490 + 8 [kjournald]\n", "blkparse"),
        (" fio 123 [001] 100.5: block:block_rq_issue: 8,0 R 4096 () 0 + 8 [fio]\n", "perf-script"),
        (
            "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,device,pid,process,\
          cpu,error,flags\n",
            "csv",
        ),
    ] {
        assert_eq!(detected(line.as_bytes()), Some(format), "{line}");
    }
    assert_eq!(detected(b"PAR1...."), Some("seekwell"));
    assert_eq!(detected(b"\x07tae----"), Some("blktrace"));
    assert_eq!(detected(b"eat\x07----"), Some("blktrace"));
}

#[test]
fn what_is_no_trace_is_not_taken_for_one() {
    for data in [&b""[..], b"\n", b"hello world\n", b"a,b,c\n1,2,3\n", &[0; 64], &[0xff; 640]] {
        assert_eq!(detected(data), None, "{data:?}");
    }
}

//! Which format a file is in, by its first bytes; by its name only where bytes say too little.

use super::{Format, csv, oracle, vscsi};
use std::path::Path;

const PARQUET_MAGIC: &[u8] = b"PAR1";
/// Upper three bytes of blktrace's magic; the lowest is the version (blktrace_api.h).
const BLKTRACE_MAGIC: u32 = 0x6561_7400;

/// The format that a file of this name begins like, where one can be told.
pub fn detect(head: &[u8], path: &Path) -> Option<Format> {
    if head.starts_with(PARQUET_MAGIC) {
        return Some(Format::Seekwell);
    }
    if is_blktrace(head) {
        return Some(Format::Blktrace);
    }
    if vscsi::looks_like(head) {
        return Some(Format::Vscsi);
    }
    if let Some(format) = text(head) {
        return Some(format);
    }
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let is_named = name.contains("oraclegeneral");
    (is_named || oracle::looks_like(head)).then_some(Format::Oracle)
}

fn is_blktrace(head: &[u8]) -> bool {
    let Some(Ok(magic)) = head.get(..4).map(<[u8; 4]>::try_from) else { return false };
    [u32::from_le_bytes(magic), u32::from_be_bytes(magic)]
        .into_iter()
        .any(|m| m & 0xffff_ff00 == BLKTRACE_MAGIC)
}

fn text(head: &[u8]) -> Option<Format> {
    let lines = || {
        head.split(|&b| b == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty() && !line.contains(&0))
            .take(64)
    };
    let first = lines().next()?;
    if first.starts_with(b"fio version ") && first.ends_with(b" iolog") {
        return Some(Format::Iolog);
    }
    if first == csv::HEADER.as_bytes() {
        return Some(Format::Csv);
    }
    if first.starts_with(b"Timestamp,Response,IOType") {
        return Some(Format::Systor);
    }
    if lines().any(is_perf_script) {
        return Some(Format::PerfScript);
    }
    // The second line decides too: the first may be a row of names.
    lines().take(2).find_map(|line| blank_separated(line).or_else(|| comma_separated(line)))
}

/// `task pid [cpu] time: block:block_rq_issue: …`, or without `block:` from tracefs.
fn is_perf_script(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace);
    words.any(|w| {
        let w = w.strip_prefix(b"block:").unwrap_or(w);
        (w.starts_with(b"block_") && w.ends_with(b":")) && w.len() > 7
    })
}

fn blank_separated(line: &[u8]) -> Option<Format> {
    let fields: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()).take(64).collect();
    let [first, second, ..] = fields[..] else { return None };
    let is_device = first.split(|&b| b == b',').all(is_whole) && first.contains(&b',');
    if is_device && is_whole(second) && fields.len() >= 6 {
        return Some(Format::Blkparse);
    }
    let is_drive = is_code(first) && matches!(second, b"Hit" | b"Miss" | b"Doub" | b"Trip");
    if is_drive && fields.len() == 6 {
        return Some(Format::DiskSimValidate);
    }
    if fields.len() >= 9 && is_code(fields[fields.len() - 4]) && is_whole(first) {
        return Some(Format::Fiu);
    }
    let numbers =
        fields.len() == 5 && is_decimal(first) && fields[1..4].iter().all(|f| is_whole(f));
    (numbers && fields[4].iter().all(u8::is_ascii_hexdigit)).then_some(Format::DiskSim)
}

fn comma_separated(line: &[u8]) -> Option<Format> {
    let fields: Vec<&[u8]> = line.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect();
    let whole = |at: &[usize]| at.iter().all(|&i| is_whole(fields[i]));
    match fields.len() {
        6 | 7 if whole(&[0, 4, 5]) && is_word(fields[3]) => Some(Format::Msr),
        6 if is_decimal(fields[0]) && (is_code(fields[2]) || fields[2].is_empty()) => {
            Some(Format::Systor)
        }
        5 if is_code(fields[1]) && whole(&[2, 3, 4]) => Some(Format::Alibaba),
        n if n >= 5 && is_code(fields[3]) && whole(&[0, 1, 2]) && is_decimal(fields[4]) => {
            Some(Format::Spc)
        }
        5 if whole(&[1, 2]) && is_decimal(fields[0]) && matches!(fields[3], b"0" | b"1") => {
            Some(Format::Tencent)
        }
        _ => None,
    }
}

fn is_whole(field: &[u8]) -> bool {
    !field.is_empty() && field.iter().all(u8::is_ascii_digit)
}

fn is_decimal(field: &[u8]) -> bool {
    let dots = field.iter().filter(|&&b| b == b'.').count();
    dots <= 1 && field.len() > dots && field.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

fn is_code(field: &[u8]) -> bool {
    matches!(field, b"R" | b"W" | b"r" | b"w")
}

fn is_word(field: &[u8]) -> bool {
    field.eq_ignore_ascii_case(b"read") || field.eq_ignore_ascii_case(b"write")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_known_by_its_first_line() {
        for (line, format) in [
            ("fio version 2 iolog\n", Format::Iolog),
            ("128166372003061629,hm,1,Read,383496192,32768,413\n", Format::Msr),
            ("419,W,8792731648,16384,1577808144360767\n", Format::Alibaba),
            ("device_id,opcode,offset,length,timestamp\n1,R,2,3,4\n", Format::Alibaba),
            ("1538323200,3904,8,1,1283\n", Format::Tencent),
            ("Timestamp,Response,IOType,LUN,Offset,Size\n", Format::Systor),
            ("1455592378.01,0.0002,R,4,56153677824,8192\n", Format::Systor),
            ("0,20941264,8192,W,0.551706\n", Format::Spc),
            ("0 4892 syslogd 904265560 8 W 6 0 531e779f9a0b5c\n", Format::Fiu),
            ("13.191135\t30\t0\t5\t1\n", Format::DiskSim),
            ("W Hit    4583176   4    663.00000  45422.00000\n", Format::DiskSimValidate),
            ("  8,0    1  1   0.000000000 697 Q WS 223490 + 8 [kjournald]\n", Format::Blkparse),
            (
                " fio 123 [001] 100.5: block:block_rq_issue: 8,0 R 4096 () 0 + 8 [fio]\n",
                Format::PerfScript,
            ),
            (
                "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,device,pid,process,\
              cpu,error,flags\n",
                Format::Csv,
            ),
        ] {
            assert_eq!(detect(line.as_bytes(), Path::new("x")), Some(format), "{line}");
        }
        assert_eq!(detect(b"PAR1....", Path::new("x")), Some(Format::Seekwell));
        assert_eq!(detect(b"\x07tae----", Path::new("x")), Some(Format::Blktrace));
        assert_eq!(detect(b"eat\x07----", Path::new("x")), Some(Format::Blktrace));
    }

    #[test]
    fn what_is_no_trace_is_not_taken_for_one() {
        for data in [&b""[..], b"\n", b"hello world\n", b"a,b,c\n1,2,3\n", &[0; 64], &[0xff; 640]] {
            assert_eq!(detect(data, Path::new("x")), None, "{data:?}");
        }
    }
}

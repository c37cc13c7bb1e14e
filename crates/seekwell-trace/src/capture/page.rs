//! Pages of the kernel's ring buffer, as `per_cpu/cpuN/trace_pipe_raw` hands them out.
//!
//! ```text
//! page    u64 time of the page | commit: bytes of data, flags in its top bits | data …
//! event   u32: type_len (5 bits), time_delta (27 bits) | array …
//!
//! type_len 1…28   data of 4·type_len bytes
//!          0      array[0]: length of the data and of array[0] itself, then the data
//!          29     padding: to the end of the page where time_delta is 0, else array[0] bytes
//!          30     time_delta is continued above by array[0], no data
//!          31     an absolute time in time_delta and array[0], no data
//! ```
//!
//! The numbers come from `events/header_page` and `events/header_event`; what they mean is written
//! in the kernel's `include/linux/ring_buffer.h` and `kernel/trace/ring_buffer.c`.

use super::error::LayoutError;
use super::format::{Field, fields};

/// Of the commit word: bytes of data. The kernel keeps flags and reader state above.
const COMMIT_BYTES: u64 = (1 << 20) - 1;
/// Of the commit word: events were lost before this page.
const MISSED: u64 = 1 << 31;
/// An absolute time has 59 bits; the five above are those of the page.
const ABSOLUTE_BITS: u32 = 59;
/// Bytes before the array.
const HEAD: usize = 4;

/// How pages and the heads of events are laid out on the running kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLayout {
    timestamp: Field,
    commit: Field,
    data: usize,
    /// Bytes of a whole page, unless it was configured larger.
    pub page_bytes: usize,
    length_bits: u32,
    delta_bits: u32,
    padding: u32,
    extend: u32,
    absolute: u32,
}

impl PageLayout {
    /// Reads `events/header_page` and `events/header_event`.
    ///
    /// # Errors
    /// [`LayoutError`] where a line is missing or cannot be read.
    pub fn parse(page: &str, event: &str) -> Result<Self, LayoutError> {
        let fields = fields(page)?;
        let find = |name: &'static str| {
            let field = fields.iter().find(|(known, _)| known == name);
            field.map(|(_, field)| *field).ok_or(LayoutError::Missing(name))
        };
        let data = find("data")?;
        let word = |name: &'static str| {
            let line = event.lines().map(str::trim).find(|line| line.starts_with(name));
            let line = line.ok_or(LayoutError::Missing(name))?;
            let digits = line.split(|c: char| !c.is_ascii_digit()).rfind(|part| !part.is_empty());
            let number = digits.and_then(|digits| digits.parse::<u32>().ok());
            number
                .filter(|n| *n <= 32)
                .ok_or_else(|| LayoutError::Unreadable(line.chars().take(60).collect()))
        };
        let layout = Self {
            timestamp: find("timestamp")?,
            commit: find("commit")?,
            data: data.offset,
            page_bytes: data.offset + data.size,
            length_bits: word("type_len")?,
            delta_bits: word("time_delta")?,
            padding: word("padding")?,
            extend: word("time_extend")?,
            absolute: word("time_stamp")?,
        };
        match layout.length_bits + layout.delta_bits {
            32 if layout.length_bits > 0 && layout.delta_bits > 0 => Ok(layout),
            _ => Err(LayoutError::Unreadable(event.chars().take(60).collect())),
        }
    }

    /// Calls `each` with time (ns on the instance's clock) and bytes of every event of a page.
    /// Gives whether events were lost before it.
    ///
    /// # Errors
    /// [`LayoutError`] where the page is cut or an event reaches beyond it; events before are good.
    pub fn walk(&self, page: &[u8], mut each: impl FnMut(u64, &[u8])) -> Result<bool, LayoutError> {
        let mut time = self.timestamp.number(page).ok_or(LayoutError::Missing("timestamp"))?;
        let commit = self.commit.number(page).ok_or(LayoutError::Missing("commit"))?;
        let high = time & !((1 << ABSOLUTE_BITS) - 1);
        let end = self.data + (commit & COMMIT_BYTES) as usize;
        let data = page.get(..end).ok_or(LayoutError::Overrun(end))?;
        let mut at = self.data;
        while at + HEAD <= end {
            let word = |from: usize| {
                let bytes = data.get(from..from + 4).ok_or(LayoutError::Overrun(from))?;
                Ok(u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
            };
            let (length, delta) = self.split(word(at)?);
            let body = at + HEAD;
            let (from, next) = if length == self.padding {
                if delta == 0 {
                    break;
                }
                time = time.wrapping_add(u64::from(delta));
                (None, body + word(body)? as usize)
            } else if length == self.extend {
                let more = u64::from(word(body)?) << self.delta_bits;
                time = time.wrapping_add(more + u64::from(delta));
                (None, body + 4)
            } else if length == self.absolute {
                time = high | (u64::from(word(body)?) << self.delta_bits) | u64::from(delta);
                (None, body + 4)
            } else if length == 0 {
                time = time.wrapping_add(u64::from(delta));
                (Some(body + 4), body + (word(body)? as usize).next_multiple_of(4))
            } else {
                time = time.wrapping_add(u64::from(delta));
                (Some(body), body + 4 * length as usize)
            };
            if let Some(from) = from {
                each(time, data.get(from..next).ok_or(LayoutError::Overrun(from))?);
            }
            at = next;
        }
        Ok(commit & MISSED != 0)
    }

    /// The two parts of the word before an event, which the compiler that built the kernel has
    /// ordered by the byte order of the machine.
    fn split(&self, word: u32) -> (u32, u32) {
        if cfg!(target_endian = "big") {
            (word >> self.delta_bits, word & ((1 << self.delta_bits) - 1))
        } else {
            (word & ((1 << self.length_bits) - 1), word >> self.length_bits)
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub const PAGE: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";
    pub const EVENT: &str = "\
# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
";

    fn layout() -> PageLayout {
        PageLayout::parse(PAGE, EVENT).unwrap()
    }

    /// A page at time 1000 that holds these words.
    fn page(words: &[u32], flags: u64) -> Vec<u8> {
        let mut page = 1000_u64.to_ne_bytes().to_vec();
        page.extend(((words.len() as u64 * 4) | flags).to_ne_bytes());
        words.iter().for_each(|word| page.extend(word.to_ne_bytes()));
        page.resize(4096, 0xff);
        page
    }

    fn head(length: u32, delta: u32) -> u32 {
        if cfg!(target_endian = "big") { length << 27 | delta } else { delta << 5 | length }
    }

    fn events(page: &[u8]) -> Vec<(u64, usize)> {
        let mut seen = Vec::new();
        layout().walk(page, |time, bytes| seen.push((time, bytes.len()))).unwrap();
        seen
    }

    #[test]
    fn the_kernels_own_description_is_understood() {
        let layout = layout();
        assert_eq!((layout.page_bytes, layout.data), (4096, 16));
        assert_eq!((layout.padding, layout.extend, layout.absolute), (29, 30, 31));
        let without = EVENT.replace("time_extend", "other");
        assert_eq!(PageLayout::parse(PAGE, &without), Err(LayoutError::Missing("time_extend")));
    }

    #[test]
    fn times_add_up_over_events_paddings_and_extensions() {
        let words = [
            head(2, 5),
            1,
            2, // 8 bytes at 1005
            head(29, 3),
            8,
            0, // a discarded event: 4 + 8 bytes
            head(30, 1),
            2, // 2 << 27 and 1 later
            head(0, 4),
            12,
            1,
            2, // 8 bytes with their length before them
            head(1, 0),
            7, // 4 bytes at the same time
        ];
        let later = 1008 + (2 << 27) + 1 + 4;
        assert_eq!(events(&page(&words, 0)), [(1005, 8), (later, 8), (later, 4)]);
    }

    #[test]
    fn an_absolute_time_replaces_the_sum_and_keeps_the_top_bits_of_the_page() {
        let mut page = page(&[head(31, 9), 3, head(1, 1), 7], 0);
        page[..8].copy_from_slice(&((0x15_u64 << 59) + 77).to_ne_bytes());
        assert_eq!(events(&page), [((0x15_u64 << 59) + (3 << 27) + 10, 4)]);
    }

    #[test]
    fn the_rest_of_a_page_after_its_last_event_is_not_read() {
        assert_eq!(events(&page(&[head(1, 1), 7, head(29, 0), 5, head(1, 1)], 0)), [(1001, 4)]);
    }

    #[test]
    fn losses_before_a_page_are_told() {
        let walk = |flags| layout().walk(&page(&[head(1, 1), 7], flags), |_, _| {});
        assert_eq!(walk(0), Ok(false));
        assert_eq!(walk(MISSED), Ok(true));
        assert_eq!(walk(MISSED | 1 << 30), Ok(true));
    }

    #[test]
    fn an_event_longer_than_its_page_is_an_error() {
        let seen = layout().walk(&page(&[head(28, 1), 7], 0), |_, _| panic!("not whole"));
        assert_eq!(seen, Err(LayoutError::Overrun(20)));
        assert!(layout().walk(&[0; 12], |_, _| {}).is_err());
    }

    proptest! {
        #[test]
        fn no_page_makes_the_reader_panic_or_hang(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = layout().walk(&bytes, |_, _| {});
        }

        #[test]
        fn no_data_in_a_whole_page_makes_the_reader_panic(
            words in prop::collection::vec(prop_oneof![
                any::<u32>(),
                (0..32u32, 0..9u32).prop_map(|(length, delta)| head(length, delta)),
                0..64u32,
            ], 0..300),
        ) {
            let _ = layout().walk(&page(&words, 0), |_, _| {});
        }
    }
}

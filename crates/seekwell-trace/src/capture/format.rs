//! The layout of one event, as `events/*/*/format` describes it.
//!
//! Offsets differ between kernels (`ioprio` came, `rwbs` grew from 8 to 10 bytes) and distributions
//! carry changes back to older versions, so nothing is ever taken from a version number: every
//! field is found by its name, in the description that the running kernel gives.

use super::error::LayoutError;

/// No event is larger than a page, and no field is further away.
const MOST: usize = 1 << 16;

/// Where a field lies in the bytes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

impl Field {
    /// The bytes of the field; `None` if the event is too short.
    pub fn bytes<'a>(&self, event: &'a [u8]) -> Option<&'a [u8]> {
        event.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// The field as an unsigned number in the byte order of this machine.
    pub fn number(&self, event: &[u8]) -> Option<u64> {
        let bytes = self.bytes(event)?;
        Some(match bytes.len() {
            1 => u64::from(bytes[0]),
            2 => u64::from(u16::from_ne_bytes(bytes.try_into().ok()?)),
            4 => u64::from(u32::from_ne_bytes(bytes.try_into().ok()?)),
            8 => u64::from_ne_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }

    /// The text in a field of characters, up to its NUL.
    pub fn text<'a>(&self, event: &'a [u8]) -> Option<&'a [u8]> {
        let bytes = self.bytes(event)?;
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        Some(&bytes[..end])
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// Its name, such as `block_rq_issue`.
    pub name: String,
    /// The number it has on this kernel since it was started.
    pub id: u16,
    fields: Vec<(String, Field)>,
}

impl EventFormat {
    /// Reads a description.
    ///
    /// # Errors
    /// [`LayoutError`] where name or number is missing or a line is not a field.
    pub fn parse(text: &str) -> Result<Self, LayoutError> {
        let after = |key| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let name = after("name:").ok_or(LayoutError::Missing("name"))?.to_owned();
        let id = after("ID:").ok_or(LayoutError::Missing("ID"))?;
        let id = id.parse().map_err(|_| LayoutError::Unreadable(clip(id)))?;
        let fields = fields(text)?;
        Ok(Self { name, id, fields })
    }

    /// Where a field lies; `None` if this kernel's event has none of that name.
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| *field)
    }
}

/// The fields in a description: of an event, or of a page of the ring buffer.
pub(super) fn fields(text: &str) -> Result<Vec<(String, Field)>, LayoutError> {
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("field:"));
    lines.map(|line| field(line).ok_or_else(|| LayoutError::Unreadable(clip(line)))?).collect()
}

fn field(line: &str) -> Option<Result<(String, Field), LayoutError>> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let mut offset = None;
    let mut size = None;
    for part in parts {
        match part.split_once(':') {
            Some(("offset", n)) => offset = Some(n.trim().parse().ok()?),
            Some(("size", n)) => size = Some(n.trim().parse().ok()?),
            _ => {}
        }
    }
    let (offset, size): (usize, usize) = (offset?, size?);
    // `char comm[16]`, `unsigned int *p`, `__data_loc char[] cmd`.
    let name = declared.split_whitespace().last()?;
    let name = name.split('[').next()?.trim_start_matches('*').to_owned();
    Some(if name.is_empty() || offset > MOST || size > MOST {
        Err(LayoutError::Field(clip(&name), size, offset))
    } else {
        Ok((name, Field { offset, size }))
    })
}

/// What was found, short enough to be shown.
fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ISSUE: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
        \tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"%d\", field:nothing; REC->dev\n";

    #[test]
    fn fields_are_found_by_name_whatever_their_type() {
        let format = EventFormat::parse(ISSUE).unwrap();
        assert_eq!((format.name.as_str(), format.id), ("block_rq_issue", 2104));
        assert_eq!(format.field("rwbs"), Some(Field { offset: 34, size: 10 }));
        assert_eq!(format.field("cmd"), Some(Field { offset: 60, size: 4 }));
        assert_eq!(format.field("nothing"), None);
    }

    #[test]
    fn an_event_too_short_for_a_field_has_no_such_value() {
        let field = Field { offset: 8, size: 4 };
        assert_eq!(field.number(&[0; 11]), None);
        let mut event = [0; 12];
        event[8..].copy_from_slice(&0x0070_0001_u32.to_ne_bytes());
        assert_eq!(field.number(&event), Some(0x0070_0001));
    }

    #[test]
    fn a_text_without_its_nul_is_the_whole_field() {
        let field = Field { offset: 1, size: 4 };
        assert_eq!(field.text(b"xfio\0y"), Some(&b"fio"[..]));
        assert_eq!(field.text(b"xfull!"), Some(&b"full"[..]));
    }

    #[test]
    fn descriptions_that_lack_something_say_what() {
        assert_eq!(EventFormat::parse("ID: 3\n"), Err(LayoutError::Missing("name")));
        assert_eq!(EventFormat::parse("name: x\n"), Err(LayoutError::Missing("ID")));
        let bad = "name: x\nID: 3\n\tfield:int a;\toffset:zero;\tsize:4;\n";
        assert!(EventFormat::parse(bad).unwrap_err().to_string().contains("offset:zero"));
    }

    proptest! {
        #[test]
        fn no_description_makes_the_reader_panic(text in "(name: |ID: |field:|[ -~\n\t;]){0,40}") {
            let _ = EventFormat::parse(&text);
        }
    }
}

use super::*;
use proptest::prelude::*;

const SIZE: u64 = 1 << 20;

fn export() -> Export {
    Export {
        name: "disk".to_owned(),
        size_bytes: SIZE,
        min_block: 512,
        rotational: true,
        trims: false,
    }
}

fn session() -> Session {
    Session::new(export(), &mut Vec::new())
}

fn option(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut out = OPTION.to_be_bytes().to_vec();
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
    out
}

fn go(name: &str) -> Vec<u8> {
    let name = name.as_bytes();
    option(OPT_GO, &[&(name.len() as u32).to_be_bytes(), name, &[0, 0]].concat())
}

fn request(flags: u16, kind: u16, offset: u64, len: u32) -> Vec<u8> {
    let mut out = REQUEST.to_be_bytes().to_vec();
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(7_u64.to_be_bytes());
    out.extend(offset.to_be_bytes());
    out.extend(len.to_be_bytes());
    out
}

/// A session past its negotiation.
fn open(structured: bool) -> Session {
    let mut session = session();
    session.feed(&3_u32.to_be_bytes());
    if structured {
        session.feed(&option(OPT_STRUCTURED_REPLY, &[]));
    }
    session.feed(&go("disk"));
    let mut out = Vec::new();
    assert_eq!(session.step(&mut out), Ok(Step::Wait));
    assert_eq!(&out[out.len() - 20..][12..16], &REP_ACK.to_be_bytes());
    session
}

/// What a session answers to one message, and the step it comes to.
fn says(session: &mut Session, message: &[u8]) -> (Result<Step, ProtocolError>, Vec<u8>) {
    let mut out = Vec::new();
    session.feed(message);
    let step = session.step(&mut out);
    (step, out)
}

#[test]
fn a_client_that_names_no_export_gets_size_flags_and_block_sizes() {
    let mut session = session();
    session.feed(&3_u32.to_be_bytes());
    let (step, out) = says(&mut session, &go(""));
    assert_eq!(step, Ok(Step::Wait));
    let info = &out[20..32];
    assert_eq!(info[..2], [0, 0]);
    assert_eq!(u64_at(info, 2), SIZE);
    let flags = u16_at(info, 10);
    assert_eq!(flags & (SEND_FLUSH | SEND_FUA | ROTATIONAL), SEND_FLUSH | SEND_FUA | ROTATIONAL);
    assert_eq!(flags & (SEND_TRIM | SEND_DF), 0);
    let blocks = &out[32 + 20..];
    assert_eq!((u16_at(blocks, 0), u32_at(blocks, 2)), (INFO_BLOCK_SIZE, 512));
    assert_eq!((u32_at(blocks, 6), u32_at(blocks, 10)), (4096, 32 << 20));
}

#[test]
fn requests_shorter_than_the_announced_block_are_invalid() {
    let export = Export { min_block: 4096, ..export() };
    let session = Session::new(export, &mut Vec::new());
    let read = |offset, len| Command::Read { offset, len };
    for (offset, len, legal) in [(0, 4096, true), (512, 4096, false), (4096, 512, false)] {
        let found = session.check(&read(offset, len), 0, offset, len);
        assert_eq!(found.is_ok(), legal, "{len} bytes at {offset}");
    }
}

#[test]
fn the_oldest_way_to_name_an_export_works_with_and_without_zeroes() {
    for (flags, len) in [(1_u32, 134), (3, 10)] {
        let mut session = session();
        session.feed(&flags.to_be_bytes());
        let (step, out) = says(&mut session, &option(OPT_EXPORT_NAME, b"disk"));
        assert_eq!((step, out.len()), (Ok(Step::Wait), len));
    }
    let mut session = session();
    session.feed(&3_u32.to_be_bytes());
    let (step, _) = says(&mut session, &option(OPT_EXPORT_NAME, b"other"));
    assert_eq!(step, Err(ProtocolError::NoSuchExport));
}

#[test]
fn options_that_are_not_known_or_wrong_are_refused_and_the_next_is_heard() {
    let mut session = session();
    session.feed(&3_u32.to_be_bytes());
    for (message, kind) in [
        (option(10, b"whatever"), REP_ERR_UNSUP),
        (option(OPT_LIST, b"x"), REP_ERR_INVALID),
        (option(OPT_GO, &[0, 0, 0, 9, b'd']), REP_ERR_INVALID),
        (go("other"), REP_ERR_UNKNOWN),
        (option(OPT_LIST, b""), REP_SERVER),
    ] {
        let (step, out) = says(&mut session, &message);
        assert_eq!((step, u32_at(&out, 12)), (Ok(Step::Wait), kind));
    }
    let (step, _) = says(&mut session, &option(OPT_ABORT, b""));
    assert_eq!(step, Ok(Step::Leave));
}

#[test]
fn a_message_in_any_pieces_is_one_request() {
    let mut session = open(false);
    let message = [request(CMD_FLAG_FUA, CMD_WRITE, 512, 1024), vec![5; 1024]].concat();
    let mut out = Vec::new();
    for byte in &message[..message.len() - 1] {
        session.feed(&[*byte]);
        assert_eq!(session.step(&mut out), Ok(Step::Wait));
    }
    let (step, _) = says(&mut session, &message[message.len() - 1..]);
    let command = Command::Write { offset: 512, data: vec![5; 1024], fua: true };
    assert_eq!(step, Ok(Step::Request(Request { cookie: 7, command })));
    assert!(out.is_empty());
}

#[test]
fn requests_that_make_no_sense_are_answered_and_the_next_is_heard() {
    let mut session = open(false);
    let write = |offset: u64, len: u32| {
        [request(0, CMD_WRITE, offset, len), vec![0; len as usize]].concat()
    };
    for (message, errno) in [
        (request(0, CMD_READ, 0, 0), 22),
        (request(0, CMD_READ, 1, 512), 22),
        (request(0, CMD_READ, 0, 100), 22),
        (request(0, CMD_READ, SIZE, 512), 22),
        (request(0, CMD_READ, u64::MAX - 511, 512), 22),
        (request(0, CMD_READ, 0, MAX_BLOCK + 512), 22),
        (request(2, CMD_READ, 0, 512), 22),
        (write(SIZE, 512), 28),
        (request(0, CMD_TRIM, 0, 4096), 22),
        (request(0, 6, 0, 4096), 22),
        (request(0, 99, 0, 4096), 22),
    ] {
        let (step, out) = says(&mut session, &message);
        assert_eq!((step, out.len()), (Ok(Step::Wait), 16), "{message:?}");
        assert_eq!((u32_at(&out, 4), u64_at(&out, 8)), (errno, 7));
    }
    let (step, _) = says(&mut session, &request(0, CMD_FLUSH, 0, 0));
    assert_eq!(step, Ok(Step::Request(Request { cookie: 7, command: Command::Flush })));
    let (step, _) = says(&mut session, &request(0, CMD_DISCONNECT, 0, 0));
    assert_eq!(step, Ok(Step::Leave));
}

#[test]
fn who_does_not_speak_the_protocol_is_hung_up_on() {
    let (step, _) = says(&mut session(), &8_u32.to_be_bytes());
    assert_eq!(step, Err(ProtocolError::Flags { flags: 8 }));
    let mut other = session();
    other.feed(&3_u32.to_be_bytes());
    let (step, _) = says(&mut other, b"GET / HTTP/1.1\r\n");
    assert!(matches!(step, Err(ProtocolError::Magic { .. })));
    let mut long = session();
    long.feed(&3_u32.to_be_bytes());
    let mut head = OPTION.to_be_bytes().to_vec();
    head.extend([0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(says(&mut long, &head).0, Err(ProtocolError::TooLong { bytes: u32::MAX }));
    let write = request(0, CMD_WRITE, 0, u32::MAX);
    assert_eq!(says(&mut open(false), &write).0, Err(ProtocolError::TooLong { bytes: u32::MAX }));
}

#[test]
fn replies_to_reads_are_structured_where_that_was_agreed() {
    let read = Command::Read { offset: 4096, len: 512 };
    let (mut simple, mut structured) = (Vec::new(), Vec::new());
    open(false).reply(7, &read, Ok(&[1; 512]), &mut simple);
    assert_eq!((u32_at(&simple, 0), simple.len()), (SIMPLE_REPLY, 16 + 512));
    let session = open(true);
    session.reply(7, &read, Ok(&[1; 512]), &mut structured);
    assert_eq!(u32_at(&structured, 0), STRUCTURED_REPLY);
    assert_eq!((u16_at(&structured, 4), u16_at(&structured, 6)), (CHUNK_DONE, CHUNK_OFFSET_DATA));
    assert_eq!((u32_at(&structured, 16), u64_at(&structured, 20)), (520, 4096));
    assert_eq!(structured.len(), 20 + 520);
    structured.clear();
    session.reply(7, &read, Err(Failure::Io), &mut structured);
    assert_eq!((u16_at(&structured, 6), u32_at(&structured, 16)), (CHUNK_ERROR, 6));
    assert_eq!((u32_at(&structured, 20), structured.len()), (5, 26));
    structured.clear();
    session.reply(7, &Command::Flush, Ok(&[]), &mut structured);
    assert_eq!((u32_at(&structured, 0), structured.len()), (SIMPLE_REPLY, 16));
}

proptest! {
    #[test]
    fn whatever_comes_in_whatever_pieces_requests_lie_within_the_disk(
        opened in any::<bool>(),
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                (any::<u32>(), prop::collection::vec(any::<u8>(), 0..20))
                    .prop_map(|(kind, data)| option(kind % 12, &data)),
                (any::<u16>(), 0_u16..8, any::<u64>(), any::<u32>()).prop_map(
                    |(flags, kind, offset, len)| request(flags & 5, kind, offset, len % 8192)
                ),
                (0_u16..8, 0_u64..4096, 0_u32..64).prop_map(
                    |(kind, offset, len)| request(0, kind, offset * 512, len * 512)
                ),
            ],
            0..20,
        )
    ) {
        let mut session = if opened { open(true) } else { session() };
        let mut out = Vec::new();
        'all: for piece in pieces {
            session.feed(&piece);
            loop {
                match session.step(&mut out) {
                    Ok(Step::Request(request)) => {
                        let bytes = crate::disk::bytes_of(&request.command);
                        prop_assert!(bytes.end <= SIZE);
                        prop_assert!(bytes.start.is_multiple_of(512));
                        prop_assert!(bytes.end.is_multiple_of(512));
                    }
                    Ok(Step::Wait) => break,
                    Ok(Step::Leave) | Err(_) => break 'all,
                }
            }
        }
    }
}

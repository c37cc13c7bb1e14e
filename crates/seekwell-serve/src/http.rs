//! Just enough HTTP/1.1 to be read by a browser: one request a connection, its head alone, within
//! a time and a size. What a head means is for `httparse`; a body is never looked at.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// A head is no longer than this.
const MOST_HEAD: usize = 8 << 10;
const MOST_HEADERS: usize = 64;
/// A head has to come within this time, however slowly its bytes trickle in.
const HEAD_TIME: Duration = Duration::from_secs(2);
/// Each [`CHUNK`] of an answer has to be taken within this time: 13 KiB a second.
const CHUNK_TIME: Duration = Duration::from_secs(5);
/// What is left of a request, an unused body, is read and dropped for this long: closing
/// with unread bytes resets the connection, and the answer is lost on the way.
const LINGER: Duration = Duration::from_millis(500);
const CHUNK: usize = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD`, or another.
    pub method: String,
    /// From the `/` to the `?`, as it came.
    pub path: String,
    /// After the `?`, as it came.
    pub query: String,
    pub host: Option<String>,
    pub authorization: Option<String>,
}

impl Request {
    /// A parameter as text; `None` if it is missing or no text.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.query.split('&').filter_map(|part| part.split_once('='));
        let (_, value) = pairs.find(|(key, _)| *key == name)?;
        let mut bytes = Vec::new();
        let mut rest = value.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let mut digit = || char::from(rest.next()?).to_digit(16);
                    u8::try_from(16 * digit()? + digit()?).ok()?
                }
                byte => byte,
            });
        }
        String::from_utf8(bytes).ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `200`.
    pub status: u16,
    pub content_type: &'static str,
    pub extra: Option<(&'static str, &'static str)>,
    /// The body; not sent for HEAD, but its length is.
    pub body: Vec<u8>,
}

impl Answer {
    pub fn html(body: String) -> Self {
        let content_type = "text/html; charset=utf-8";
        Self { status: 200, content_type, extra: None, body: body.into_bytes() }
    }

    pub fn json(body: Vec<u8>) -> Self {
        Self { status: 200, content_type: "application/json", extra: None, body }
    }

    pub fn openmetrics(body: String) -> Self {
        let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        Self { status: 200, content_type, extra: None, body: body.into_bytes() }
    }

    /// A sentence that says why there is nothing.
    pub fn refusal(status: u16, why: &str) -> Self {
        let extra = match status {
            401 => Some(("WWW-Authenticate", "Bearer")),
            405 => Some(("Allow", "GET, HEAD")),
            _ => None,
        };
        let content_type = "text/plain; charset=utf-8";
        Self { status, content_type, extra, body: format!("{why}\n").into_bytes() }
    }
}

/// Reads the head of a request; what is wrong with it as the answer to give. `None` when the other
/// side left without a word.
pub fn read(mut stream: &TcpStream) -> Option<Result<Request, Answer>> {
    let until = Instant::now() + HEAD_TIME;
    let mut head = Vec::with_capacity(1024);
    let mut chunk = [0; 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Some(Err(Answer::refusal(408, "The request did not come in time.")));
        }
        match stream.read(&mut chunk) {
            Ok(0) if head.is_empty() => return None,
            Ok(0) => return Some(Err(bad("The request ends in its head."))),
            Ok(n) => head.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(_) => return None,
        }
        match parse(&head) {
            Ok(None) if head.len() >= MOST_HEAD => {
                return Some(Err(Answer::refusal(431, "The head of the request is too long.")));
            }
            Ok(None) => {}
            Ok(Some(request)) => return Some(Ok(request)),
            Err(answer) => return Some(Err(answer)),
        }
    }
}

fn bad(why: &str) -> Answer {
    Answer::refusal(400, why)
}

/// A request from its head; `None` while that is not whole.
fn parse(head: &[u8]) -> Result<Option<Request>, Answer> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(head) {
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Answer::refusal(431, "The request has too many headers."));
        }
        Err(error) => return Err(bad(&format!("That is no HTTP request: {error}."))),
    }
    let target = parsed.path.unwrap_or_default();
    if !target.starts_with('/') {
        return Err(bad("The address has to begin with a slash."));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Some(Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        host: only(parsed.headers, "host")?,
        authorization: only(parsed.headers, "authorization")?,
    }))
}

/// The header of this name; two of them could mean one thing here and another elsewhere.
fn only(headers: &[httparse::Header<'_>], name: &str) -> Result<Option<String>, Answer> {
    let mut found = headers.iter().filter(|h| h.name.eq_ignore_ascii_case(name));
    let first = found.next();
    if found.next().is_some() {
        return Err(bad("A header that may be there once is there twice."));
    }
    let text = |h: &httparse::Header<'_>| {
        let text = std::str::from_utf8(h.value).map_err(|_| bad("A header is not text."))?;
        Ok(text.trim().to_owned())
    };
    first.map(text).transpose()
}

/// Sends an answer and closes; whether the other side takes it is its own affair. `taken` hears of
/// each part that it took.
pub fn send(mut stream: &TcpStream, answer: &Answer, head_only: bool, taken: &dyn Fn()) {
    let mut out = head(answer).into_bytes();
    if !head_only {
        out.extend_from_slice(&answer.body);
    }
    for mut part in out.chunks(CHUNK) {
        let until = Instant::now() + CHUNK_TIME;
        while !part.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_write_timeout(Some(left)).is_err() {
                return;
            }
            match stream.write(part) {
                Ok(n @ 1..) => part = &part[n..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                _ => return,
            }
        }
        taken();
    }
    let _ = stream.shutdown(Shutdown::Write);
    let until = Instant::now() + LINGER;
    let mut rest = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        if !matches!(stream.read(&mut rest), Ok(n) if n > 0) {
            return;
        }
    }
}

fn head(answer: &Answer) -> String {
    let Answer { status, content_type, extra, body } = answer;
    let extra = extra.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
    format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{extra}\
         Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Content-Security-Policy: frame-ancestors 'none'\r\n\r\n",
        reason(*status),
        body.len()
    )
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_head_is_taken_apart_as_it_came() {
        let head = b"GET /run/x%2f..?token=a&b HTTP/1.1\r\nHOST: localhost:1 \r\n\r\n";
        let request = parse(head).expect("a request").expect("whole");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/run/x%2f.."));
        assert_eq!(request.query, "token=a&b");
        assert_eq!(request.host.as_deref(), Some("localhost:1"));
        assert_eq!(parse(&head[..head.len() - 1]), Ok(None), "not whole yet");
    }

    #[test]
    fn parameters_are_decoded_and_what_is_no_text_is_none() {
        let line = "GET /?a=%41+b%2Fc&e=&bad=%zz&cut=%4&bytes=%ff&a=2 HTTP/1.1\r\n\r\n";
        let request = parse(line.as_bytes()).expect("a request").expect("whole");
        assert_eq!(request.parameter("a").as_deref(), Some("A b/c"));
        assert_eq!(request.parameter("e").as_deref(), Some(""));
        for name in ["bad", "cut", "bytes", "none", "%41"] {
            assert_eq!(request.parameter(name), None, "{name}");
        }
    }

    #[test]
    fn two_hosts_another_server_and_a_strange_version_are_refused() {
        for head in [
            "GET / HTTP/1.1\r\nHost: localhost\r\nhost: example.com\r\n\r\n",
            "GET http://example.com/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/9.9\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n continued\r\n\r\n",
        ] {
            let answer = parse(head.as_bytes()).expect_err(head);
            assert_eq!(answer.status, 400, "{head}");
        }
        let many = "A: b\r\n".repeat(MOST_HEADERS + 1);
        let head = format!("GET / HTTP/1.1\r\n{many}\r\n");
        assert_eq!(parse(head.as_bytes()).expect_err("too many").status, 431);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(head in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = parse(&head);
        }
    }
}

//! Who may read: everybody on this machine, or who knows the token.
//!
//! A web page of another origin can make a browser ask 127.0.0.1, and with a name of its own that
//! it lets resolve to 127.0.0.1 it could read the answer as its own (DNS rebinding). Such a request
//! names that page's host, so on loopback only the names of this machine are answered. With a token
//! the other page would have to know it.

use crate::http::{Answer, Request};
use std::net::IpAddr;

/// The fewest letters of a token: what could be guessed is no lock.
const SHORTEST: usize = 16;
const LONGEST: usize = 128;

/// Whether a text is long enough for a token, and needs no quoting anywhere.
pub fn is_token(text: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric() || b"-._~".contains(&c);
    text.bytes().all(plain) && (SHORTEST..=LONGEST).contains(&text.len())
}

#[derive(Debug)]
pub struct Door {
    pub bind: IpAddr,
    /// What a reader has to know.
    pub token: Option<String>,
}

impl Door {
    /// Whether this request is let in.
    ///
    /// # Errors
    /// The answer that refuses it.
    pub fn check(&self, request: &Request) -> Result<(), Answer> {
        let Some(host) = &request.host else {
            return Err(Answer::refusal(400, "The request names no host."));
        };
        if self.bind.is_loopback() && !self.is_own(host) {
            return Err(Answer::refusal(421, "This server answers for this machine only."));
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Err(Answer::refusal(405, "Nothing can be changed here."));
        }
        match &self.token {
            Some(token) if !given(request).any(|given| same(given, token)) => {
                Err(Answer::refusal(401, "The token is missing or not this server's."))
            }
            _ => Ok(()),
        }
    }

    /// Whether a Host header names this machine. The port is not looked at: it may be forwarded.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or("", |(address, _)| address),
            None => host.split(':').next().unwrap_or(""),
        };
        match name.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        }
    }
}

fn given(request: &Request) -> impl Iterator<Item = &str> {
    let query = request.query.split('&').filter_map(|part| part.strip_prefix("token="));
    let header = request.authorization.as_deref().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    query.chain(header)
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
fn same(given: &str, token: &str) -> bool {
    let (given, token) = (given.as_bytes(), token.as_bytes());
    let mut differ = u8::from(given.len() != token.len());
    for (i, letter) in token.iter().enumerate() {
        differ |= std::hint::black_box(letter ^ given.get(i).unwrap_or(&!letter));
    }
    std::hint::black_box(differ) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn request(host: &str) -> Request {
        Request {
            method: "GET".into(),
            path: "/".into(),
            query: String::new(),
            host: Some(host.into()),
            authorization: None,
        }
    }

    #[test]
    fn a_token_is_long_and_plain() {
        assert!(is_token("0123456789abcdef"));
        for bad in ["", "short", "with spaces and more", "percent%20encoded1", &"x".repeat(129)] {
            assert!(!is_token(bad), "{bad}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_answered_on_loopback() {
        let door = Door { bind: Ipv4Addr::LOCALHOST.into(), token: None };
        for host in ["127.0.0.1", "127.0.0.1:8733", "localhost:99", "LOCALHOST", "[::1]:8733"] {
            assert!(door.check(&request(host)).is_ok(), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "192.168.1.1", "", "[::1", "[x]"] {
            let answer = door.check(&request(host)).expect_err(host);
            assert_eq!(answer.status, 421, "{host}");
        }
    }

    #[test]
    fn a_token_opens_the_door_in_the_address_or_in_a_header_and_nothing_like_it_does() {
        let token = Some("0123456789abcdef".to_owned());
        let door = Door { bind: Ipv6Addr::UNSPECIFIED.into(), token };
        let status = |query: &str, header: Option<&str>| {
            let mut request = request("disk.example");
            request.query = query.to_owned();
            request.authorization = header.map(str::to_owned);
            door.check(&request).err().map(|answer| answer.status)
        };
        assert_eq!(status("token=0123456789abcdef", None), None);
        assert_eq!(status("a=b&token=0123456789abcdef", None), None);
        assert_eq!(status("", Some("bearer 0123456789abcdef")), None);
        for query in ["", "token=", "token=0123456789abcde", "token=0123456789abcdef0", "token"] {
            assert_eq!(status(query, None), Some(401), "{query}");
        }
        assert_eq!(status("", Some("Basic 0123456789abcdef")), Some(401));
    }
}

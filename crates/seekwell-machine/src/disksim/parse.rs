//! The grammar of parameter files.
//!
//! ```text
//! file      = { "source" FILE | "instantiate" list "as" NAME | "topology" node | block }
//! block     = KIND [ NAME ] "{" { key "=" value [ "," ] } "}"
//! value     = word | list | block | "source" FILE
//! list      = "[" { value | NAME ".." NAME } "]"
//! node      = KIND NAME "[" { node } "]"
//! ```
//!
//! A key is all words before its `=`; `#` begins a comment that ends with the line.

use super::error::DisksimError;
use super::tree::{Block, Document, Instance, Node, Parameter, Value};
use crate::file_line::FileLine;
use std::sync::Arc;

/// The deepest nesting of blocks, lists and files.
const MAX_DEPTH: u32 = 32;
const MAX_BYTES: u64 = 256 << 20;
/// The most names that all ranges stand for.
const MAX_RANGE: u64 = 65_536;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Mark(char),
    End,
}

impl Token {
    fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("“{word}”"),
            Self::Mark(mark) => format!("“{mark}”"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

pub(super) struct Files<'a> {
    read: &'a mut dyn FnMut(&str) -> std::io::Result<String>,
    open: Vec<String>,
    bytes: u64,
    /// Names that ranges stood for.
    names: u64,
}

impl<'a> Files<'a> {
    pub fn new(read: &'a mut dyn FnMut(&str) -> std::io::Result<String>) -> Self {
        Self { read, open: Vec::new(), bytes: 0, names: 0 }
    }

    /// The text of a file. One that is not at the path given may lie beside the first.
    pub fn text(&mut self, file: &str, from: Option<&FileLine>) -> Result<String, DisksimError> {
        let beside = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let text = (self.read)(file).or_else(|why| {
            if beside == file { Err(why) } else { (self.read)(beside).map_err(|_| why) }
        });
        let text = text.map_err(|why| DisksimError::File {
            file: file.to_owned(),
            why: why.to_string(),
            from: from.cloned(),
        })?;
        self.bytes += text.len() as u64;
        if self.bytes > MAX_BYTES {
            let place = FileLine { file: file.into(), line: 1 };
            return Err(DisksimError::TooMany { place, what: "bytes", most: MAX_BYTES });
        }
        Ok(text)
    }

    fn enter(&mut self, file: &str, from: Option<&FileLine>) -> Result<String, DisksimError> {
        let here = || from.cloned().unwrap_or(FileLine { file: file.into(), line: 1 });
        if self.open.iter().any(|open| open == file) {
            return Err(DisksimError::Cycle { place: here(), file: file.to_owned() });
        }
        if self.open.len() as u32 >= MAX_DEPTH {
            let most = MAX_DEPTH.into();
            return Err(DisksimError::TooMany { place: here(), what: "files in files", most });
        }
        let text = self.text(file, from)?;
        self.open.push(file.to_owned());
        Ok(text)
    }
}

/// Reads a whole file into the document.
pub(super) fn file(
    files: &mut Files<'_>,
    name: &str,
    from: Option<&FileLine>,
    document: &mut Document,
) -> Result<(), DisksimError> {
    let text = files.enter(name, from)?;
    let mut parser = Parser::new(&text, name);
    parser.items(files, document)?;
    files.open.pop();
    Ok(())
}

struct Parser<'t> {
    rest: &'t str,
    file: Arc<str>,
    line: u32,
    depth: u32,
    token: Token,
    at: u32,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, name: &str) -> Self {
        let mut parser =
            Self { rest: text, file: name.into(), line: 1, depth: 0, token: Token::End, at: 1 };
        parser.step();
        parser
    }

    fn place(&self) -> FileLine {
        FileLine { file: Arc::clone(&self.file), line: self.at }
    }

    /// Goes on to the next token and gives the one that was.
    fn step(&mut self) -> Token {
        loop {
            let trimmed = self.rest.trim_start();
            let skipped = &self.rest[..self.rest.len() - trimmed.len()];
            self.line += skipped.matches('\n').count() as u32;
            self.rest = trimmed;
            if !self.rest.starts_with('#') {
                break;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
        }
        self.at = self.line;
        let special = |c: char| "{}[],=#".contains(c);
        let next = match self.rest.chars().next() {
            None => Token::End,
            Some(mark) if special(mark) => {
                self.rest = &self.rest[1..];
                Token::Mark(mark)
            }
            Some(_) => {
                let end = self.rest.find(|c: char| c.is_whitespace() || special(c));
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                Token::Word(word.to_owned())
            }
        };
        std::mem::replace(&mut self.token, next)
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, DisksimError> {
        let found = self.token.describe();
        Err(DisksimError::Expected { place: self.place(), expected, found })
    }

    fn mark(&mut self, mark: char, expected: &'static str) -> Result<(), DisksimError> {
        if self.token != Token::Mark(mark) {
            return self.expected(expected);
        }
        self.step();
        Ok(())
    }

    fn word(&mut self, expected: &'static str) -> Result<String, DisksimError> {
        if !matches!(self.token, Token::Word(_)) {
            return self.expected(expected);
        }
        match self.step() {
            Token::Word(word) => Ok(word),
            _ => Ok(String::new()),
        }
    }

    fn descend(&mut self) -> Result<(), DisksimError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let (place, most) = (self.place(), MAX_DEPTH.into());
            return Err(DisksimError::TooMany { place, what: "levels of nesting", most });
        }
        Ok(())
    }

    fn items(
        &mut self,
        files: &mut Files<'_>,
        document: &mut Document,
    ) -> Result<(), DisksimError> {
        while self.token != Token::End {
            let place = self.place();
            let kind = self.word("a block, “source”, “instantiate” or “topology”")?;
            match kind.as_str() {
                "source" => {
                    let name = self.word("the name of a file")?;
                    file(files, &name, Some(&place), document)?;
                }
                "instantiate" => {
                    let list = self.list(files)?;
                    let names = list.into_iter().map(|value| value.to_string()).collect();
                    if self.token != Token::Word("as".to_owned()) {
                        return self.expected("“as”");
                    }
                    self.step();
                    let of = self.word("the name of a block")?;
                    document.instances.push(Instance { names, of });
                }
                "topology" => {
                    let kind = self.word("the kind of a component")?;
                    document.topology = Some(self.node(kind)?);
                }
                _ => {
                    let name = self.word("the name of the block")?;
                    let block = self.block(files, kind, name, place)?;
                    document.blocks.push(block);
                }
            }
        }
        Ok(())
    }

    fn node(&mut self, kind: String) -> Result<Node, DisksimError> {
        self.descend()?;
        let name = self.word("the name of a component")?;
        self.mark('[', "“[”")?;
        let mut children = Vec::new();
        while self.token != Token::Mark(']') {
            if self.token == Token::Mark(',') {
                self.step();
                continue;
            }
            let kind = self.word("the kind of a component, or “]”")?;
            children.push(self.node(kind)?);
        }
        self.step();
        self.depth -= 1;
        Ok(Node { kind, name, children })
    }

    /// A block from its opening brace on.
    fn block(
        &mut self,
        files: &mut Files<'_>,
        kind: String,
        name: String,
        place: FileLine,
    ) -> Result<Block, DisksimError> {
        self.descend()?;
        self.mark('{', "“{”")?;
        let mut parameters = Vec::new();
        while self.token != Token::Mark('}') {
            if self.token == Token::Mark(',') {
                self.step();
                continue;
            }
            let place = self.place();
            let mut key = self.word("a key, or “}”")?;
            while self.token != Token::Mark('=') {
                key.push(' ');
                key.push_str(&self.word("“=” after the key")?);
            }
            self.step();
            let value = self.value(files)?;
            parameters.push(Parameter { key, value, place });
        }
        self.step();
        self.depth -= 1;
        Ok(Block { kind, name, place, parameters })
    }

    fn value(&mut self, files: &mut Files<'_>) -> Result<Value, DisksimError> {
        if self.token == Token::Mark('[') {
            return Ok(Value::List(self.list(files)?));
        }
        let place = self.place();
        let mut word = self.word("a value")?;
        if word == "source" {
            let name = self.word("the name of a file")?;
            return self.sourced(files, &name, &place);
        }
        let mut name = String::new();
        while matches!(self.token, Token::Word(_)) && self.at == place.line {
            let more = self.word("a value")?;
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(&more);
        }
        if self.token == Token::Mark('{') {
            return Ok(Value::Block(self.block(files, word, name, place)?));
        }
        if !name.is_empty() {
            word.push(' ');
            word.push_str(&name);
        }
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        Ok(number.map_or(Value::Word(word), Value::Number))
    }

    fn sourced(
        &mut self,
        files: &mut Files<'_>,
        name: &str,
        place: &FileLine,
    ) -> Result<Value, DisksimError> {
        let mut inner = Document::default();
        file(files, name, Some(place), &mut inner)?;
        inner.blocks.into_iter().next().map(Value::Block).ok_or_else(|| DisksimError::Expected {
            place: FileLine { file: name.into(), line: 1 },
            expected: "a block",
            found: "none".to_owned(),
        })
    }

    fn list(&mut self, files: &mut Files<'_>) -> Result<Vec<Value>, DisksimError> {
        self.descend()?;
        self.mark('[', "“[”")?;
        let mut values = Vec::new();
        while self.token != Token::Mark(']') {
            if self.token == Token::Mark(',') {
                self.step();
                continue;
            }
            match self.value(files)? {
                Value::Word(word) if word.contains("..") => {
                    self.range(files, &word, &mut values)?;
                }
                value => values.push(value),
            }
        }
        self.step();
        self.depth -= 1;
        Ok(values)
    }

    /// `disk0 .. disk8`, both ends included.
    fn range(
        &self,
        files: &mut Files<'_>,
        words: &str,
        values: &mut Vec<Value>,
    ) -> Result<(), DisksimError> {
        let bad = || DisksimError::Expected {
            place: self.place(),
            expected: "a range like “disk0 .. disk8”",
            found: words.to_owned(),
        };
        let (from, to) = words.split_once("..").ok_or_else(bad)?;
        let (stem, first) = numbered(from.trim()).ok_or_else(bad)?;
        let (other, last) = numbered(to.trim()).ok_or_else(bad)?;
        if stem != other || last < first {
            return Err(bad());
        }
        files.names = files.names.saturating_add(last - first).saturating_add(1);
        if files.names > MAX_RANGE {
            let (place, what) = (self.place(), "names in a range");
            return Err(DisksimError::TooMany { place, what, most: MAX_RANGE });
        }
        values.extend((first..=last).map(|number| Value::Word(format!("{stem}{number}"))));
        Ok(())
    }
}

/// A name and the number it ends with.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok()?))
}

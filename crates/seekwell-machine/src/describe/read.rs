//! A tree read into the parameters of parts, with the key and the line of whatever does not fit.

use super::error::{DescribeError, Problem};
use super::node::{Node, Value, join};
use seekwell_sys::nearest;
use serde::de::{self, DeserializeOwned, IntoDeserializer};
use std::fmt;

/// Reads a node into what serde describes.
///
/// # Errors
/// [`DescribeError`] with the innermost key that does not fit.
pub fn read<T: DeserializeOwned>(node: &Node, path: &str) -> Result<T, DescribeError> {
    T::deserialize(At { node, path: path.to_owned() }).map_err(|error| match error {
        Wrong::Placed(error) => *error,
        Wrong::Here(problem) => DescribeError::new(node.place.clone(), path, problem),
    })
}

/// A node and its key from the top.
struct At<'a> {
    node: &'a Node,
    path: String,
}

/// An error that does not know its place yet, or does.
#[derive(Debug)]
enum Wrong {
    Here(Problem),
    Placed(Box<DescribeError>),
}

impl Wrong {
    /// At this node, unless a deeper one was named.
    fn placed(self, node: &Node, path: &str) -> Self {
        match self {
            Self::Here(problem) => {
                Self::Placed(Box::new(DescribeError::new(node.place.clone(), path, problem)))
            }
            placed @ Self::Placed(_) => placed,
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(problem) => problem.fmt(f),
            Self::Placed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::Here(Problem::Illegal { why: why.to_string() })
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = expected.to_string();
        let needed = in_words(&expected);
        Self::Here(Problem::Illegal { why: format!("{unexpected}, where {needed} is needed") })
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let among = expected.iter().map(|&word| word.to_owned()).collect();
        Self::Here(Problem::NotAmong { found: variant.to_owned(), among })
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let near = nearest(field, expected.iter().copied());
        Self::Here(Problem::UnknownKey {
            nearest: near.into_iter().map(str::to_owned).collect(),
            known: expected.iter().map(|&key| key.to_owned()).collect(),
        })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Here(Problem::Missing { key: field.to_owned() })
    }
}

/// What serde expects, as people say it.
fn in_words(expected: &str) -> &str {
    match expected {
        "f32" | "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "a boolean" => "true or false",
        "a string" => "text",
        other => other,
    }
}

impl<'de> de::Deserializer<'de> for At<'_> {
    type Error = Wrong;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let Self { node, path } = self;
        let done = match &node.value {
            Value::Bool(yes) => visitor.visit_bool(*yes),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Items { items, path: &path, at: 0 }),
            Value::Table(entries) => visitor.visit_map(Entries { entries, path: &path, at: 0 }),
        };
        done.map_err(|error| error.placed(node, &path))
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let Self { node, path } = self;
        let done = match (&node.value, node.entries()) {
            (Value::Text(word), _) => visitor.visit_enum(word.as_str().into_deserializer()),
            (_, [(variant, content)]) => {
                let inner = At { node: content, path: join(&path, variant) };
                visitor.visit_enum(de::value::MapAccessDeserializer::new(Single {
                    key: Some(variant),
                    value: Some(inner),
                }))
            }
            _ => Err(Wrong::Here(Problem::Wrong {
                found: node.kind().to_owned(),
                expected: "one word",
            })),
        };
        done.map_err(|error: Wrong| error.placed(node, &path))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Node],
    path: &'a str,
    at: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Wrong;

    fn next_element_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        let Some(node) = self.items.get(self.at) else { return Ok(None) };
        let path = format!("{}[{}]", self.path, self.at);
        self.at += 1;
        let done = seed.deserialize(At { node, path: path.clone() });
        done.map(Some).map_err(|error| error.placed(node, &path))
    }
}

struct Entries<'a> {
    entries: &'a [(String, Node)],
    path: &'a str,
    at: usize,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Wrong;

    fn next_key_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        let Some((key, node)) = self.entries.get(self.at) else { return Ok(None) };
        let done = seed.deserialize(key.as_str().into_deserializer());
        done.map(Some).map_err(|error: Wrong| error.placed(node, &join(self.path, key)))
    }

    fn next_value_seed<S: de::DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        let (key, node) = &self.entries[self.at];
        self.at += 1;
        let path = join(self.path, key);
        let done = seed.deserialize(At { node, path: path.clone() });
        done.map_err(|error| error.placed(node, &path))
    }
}

/// The one entry of an enum's table.
struct Single<'a> {
    key: Option<&'a str>,
    value: Option<At<'a>>,
}

impl<'de> de::MapAccess<'de> for Single<'_> {
    type Error = Wrong;

    fn next_key_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        self.key.take().map(|key| seed.deserialize(key.into_deserializer())).transpose()
    }

    fn next_value_seed<S: de::DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("an entry was asked for twice")),
        }
    }
}

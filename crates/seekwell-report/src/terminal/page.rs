//! Lines of a terminal, in a width and a style.

use crate::text::wrap;
use anstyle::Style as Paint;

/// How terminal output looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences for colour may be written.
    pub color: bool,
}

/// The narrowest a terminal is taken to be.
const NARROWEST: usize = 24;

/// Lines of output, with a width and a style.
pub(crate) struct Page {
    pub(crate) lines: Vec<String>,
    pub(crate) width: usize,
    style: Style,
}

pub(crate) const BOLD: Paint = Paint::new().bold();
pub(crate) const DIM: Paint = Paint::new().dimmed();

impl Page {
    pub(crate) fn new(width: usize, style: Style) -> Self {
        Self { lines: Vec::new(), width: width.max(NARROWEST), style }
    }

    pub(crate) fn blank(&mut self) {
        if self.lines.last().is_some_and(|l| !l.is_empty()) {
            self.lines.push(String::new());
        }
    }

    pub(crate) fn paint(&self, text: &str, paint: Paint) -> String {
        if self.style.color { format!("{paint}{text}{paint:#}") } else { text.to_owned() }
    }

    /// Wrapped text, all of it in one style.
    pub(crate) fn text(&mut self, text: &str, first: &str, rest: &str, paint: Paint) {
        for line in wrap(text, self.width, first, rest) {
            let bare = line.trim_start();
            let indent = &line[..line.len() - bare.len()];
            let painted = format!("{indent}{}", self.paint(bare, paint));
            self.lines.push(painted);
        }
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.blank();
        self.text(text, "", "", BOLD);
    }

    /// Wrapped text that begins with a mark in a style of its own.
    pub(crate) fn marked(&mut self, mark: &str, text: &str, rest: &str, paint: Paint) {
        let mut lines = wrap(&format!("{mark} {text}"), self.width, "", rest);
        if let Some(tail) = lines.first().and_then(|l| l.strip_prefix(mark)) {
            lines[0] = format!("{}{tail}", self.paint(mark, paint));
        }
        self.lines.extend(lines);
    }

    pub(crate) fn finish(self) -> String {
        let mut out = self.lines.join("\n");
        out.push('\n');
        out
    }
}

//! Untrusted text, made safe for each place it goes to, and wrapped to a width.
//!
//! A disk's model string can hold a terminal's escape sequence, a file name can hold markup or
//! override the direction of writing. None of it is dropped, for it may be the clue: it is shown.

use unicode_width::UnicodeWidthStr;

/// One line: control characters as their pictures (`␛`, `␊`), characters that reorder or hide other
/// text as `�`.
pub fn clean(text: &str) -> String {
    let visible = |c: char| match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{feff}' => '\u{fffd}',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '\u{fffd}',
        c => c,
    };
    text.trim().chars().map(visible).collect()
}

/// Several lines, each [`clean`]; for remedies, where a line end means one.
pub fn clean_lines(text: &str) -> Vec<String> {
    text.trim().lines().map(|line| clean(line.trim_end())).collect()
}

/// Clean text for an element or a quoted attribute of HTML.
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A row of a table of Markdown, with its line end.
pub fn markdown_row(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let cells = cells.into_iter().map(|cell| escape_markdown(cell.as_ref()) + " |");
    format!("| {}\n", cells.collect::<Vec<_>>().join(" "))
}

/// Clean text for a paragraph or a table cell of Markdown.
pub fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if c == '&' {
            out.push_str("&amp;");
            continue;
        }
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A time of RFC 3339 in UTC as people write it, to the second: `2026-11-20 23:15:02 UTC`. Any
/// other text as it is.
pub fn when(time: &str) -> String {
    let parts = time.strip_suffix('Z').and_then(|t| t.split_once('T'));
    match parts {
        Some((date, clock)) if date.len() == 10 && clock.len() >= 8 => {
            let seconds = clock.split_once('.').map_or(clock, |(whole, _)| whole);
            clean(&format!("{date} {seconds} UTC"))
        }
        _ => clean(time),
    }
}

pub fn columns(text: &str) -> usize {
    text.width()
}

/// Breaks text at spaces into lines of at most `width` columns, the first begun with `first`, the
/// others with `rest`. A word that is wider than a line is broken where the line ends.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let gap = usize::from(!empty);
        if columns(&line) + gap + columns(word) <= width {
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
            continue;
        }
        if !empty {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
        }
        for c in word.chars() {
            // Measured with it, for a character can widen the one before it.
            line.push(c);
            if columns(&line) > width && line.len() > rest.len() + c.len_utf8() {
                line.pop();
                lines.push(std::mem::replace(&mut line, rest.to_owned()));
                line.push(c);
            }
        }
        empty = false;
    }
    if !empty || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// A sentence with a capital letter at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_in_a_model_name_is_shown_and_not_obeyed() {
        assert_eq!(clean("\u{1b}[2JEVIL\u{7}\u{9b}31m\r\n "), "␛[2JEVIL␇�31m");
        assert_eq!(clean("a\u{202e}b\u{200b}c"), "a�b�c");
    }

    #[test]
    fn markup_in_a_name_is_text_in_html_and_in_markdown() {
        assert_eq!(
            escape_html("</template><b a='\"&"),
            "&lt;/template&gt;&lt;b a=&#39;&quot;&amp;"
        );
        assert_eq!(escape_markdown("a|b<c>`d`*e_"), "a\\|b\\<c\\>\\`d\\`\\*e\\_");
    }

    #[test]
    fn wrapped_lines_keep_to_the_width_even_where_a_word_does_not_fit() {
        let text = format!("one two three {} four", "x".repeat(25));
        let lines = wrap(&text, 12, "- ", "  ");
        assert!(lines.iter().all(|l| columns(l) <= 12), "{lines:?}");
        assert_eq!(lines.concat().matches('x').count(), 25);
        assert_eq!(lines[0], "- one two");
    }

    #[test]
    fn a_time_is_written_to_the_second_and_any_other_text_as_it_is() {
        assert_eq!(when("2026-11-20T23:29:41.614611188Z"), "2026-11-20 23:29:41 UTC");
        assert_eq!(when("2026-11-20T23:29:41Z"), "2026-11-20 23:29:41 UTC");
        assert_eq!(when("2026-11-20T23:29:41+01:00"), "2026-11-20T23:29:41+01:00");
        assert_eq!(when("yesterday\u{1b}"), "yesterday␛");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_line_too_wide_or_loses_a_letter(text in ".{0,80}", width in 8usize..40) {
            let text = clean(&text);
            let lines = wrap(&text, width, "- ", "  ");
            for line in &lines {
                proptest::prop_assert!(columns(line) <= width, "{line:?}");
            }
            let letters = |s: &str| s.chars().filter(|c| *c != ' ').collect::<String>();
            let indent = |i| if i == 0 { "- " } else { "  " };
            let body = lines.iter().enumerate().map(|(i, l)| l.strip_prefix(indent(i)));
            let body: Option<Vec<&str>> = body.collect();
            proptest::prop_assert_eq!(body.map(|b| letters(&b.concat())), Some(letters(&text)));
        }
    }

    #[test]
    fn a_sign_that_widens_the_one_before_it_does_not_widen_the_line() {
        let lines = wrap(&"\u{2764}\u{fe0f}".repeat(9), 8, "", "");
        assert!(lines.iter().all(|l| columns(l) <= 8), "{lines:?}");
    }

    #[test]
    fn wide_characters_count_as_two_columns() {
        assert_eq!(wrap("磁盘 磁盘", 5, "", ""), ["磁盘", "磁盘"]);
    }
}

//! The terminal while a table is on it: the alternate screen, keys without Enter, and the way back
//! from every end but SIGKILL.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, Once, PoisonError};

/// What a line that heads a table begins with, on a terminal.
pub const HEAD: &str = "\x1b";
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// Where the terminal does not say how large it is.
const SIZE: (usize, usize) = (80, 24);
/// Ctrl-Z, which is a key here so that the screen is left first.
const CTRL_Z: u8 = 0x1a;

/// What is put back at the end; there only while the screen is ours.
static OURS: Mutex<Option<Option<Termios>>> = Mutex::new(None);

/// What somebody typed.
pub enum Key {
    Quit,
    Suspend,
}

/// The screen; it is left when this is dropped.
pub struct Screen {
    drawn: (usize, usize),
}

impl Screen {
    pub fn is_possible() -> bool {
        io::stdout().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb")
    }

    pub fn enter() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                leave();
                before(info);
            }));
        });
        take()?;
        Ok(Self { drawn: SIZE })
    }

    /// Columns and lines.
    pub fn size(&self) -> (usize, usize) {
        match tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (size.ws_col.into(), size.ws_row.into())
            }
            _ => SIZE,
        }
    }

    pub fn was_resized(&self) -> bool {
        self.size() != self.drawn
    }

    /// Draws lines that fit; the ones that head a table stand out.
    pub fn draw(&mut self, lines: &[String], color: bool) -> io::Result<()> {
        self.drawn = self.size();
        let line = |line: &String| match line.strip_prefix(HEAD) {
            Some(head) if color => format!("\x1b[1m{head}\x1b[0m\x1b[K"),
            Some(head) => format!("{head}\x1b[K"),
            None => format!("{line}\x1b[K"),
        };
        let lines: Vec<String> = lines.iter().map(line).collect();
        write(&format!("\x1b[H{}\x1b[J", lines.join("\r\n")))
    }

    /// What was typed last, if it means anything.
    pub fn key(&self) -> Option<Key> {
        let input = io::stdin();
        if !input.is_terminal() {
            return None;
        }
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        if !poll(&mut ready, Some(&at_once)).is_ok_and(|n| n > 0) {
            return None;
        }
        let mut typed = [0; 64];
        let count = rustix::io::read(&input, &mut typed).unwrap_or(0);
        typed[..count].iter().rev().find_map(|key| match *key {
            b'q' | b'Q' => Some(Key::Quit),
            CTRL_Z => Some(Key::Suspend),
            _ => None,
        })
    }

    /// Stops the program as Ctrl-Z does, and goes on once it is continued.
    pub fn suspend(&mut self) -> io::Result<()> {
        leave();
        kill_process(getpid(), Signal::TSTP)?;
        take()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn take() -> io::Result<()> {
    let before = tcgetattr(io::stdin()).ok();
    if let Some(before) = &before {
        let mut ours = before.clone();
        ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        ours.special_codes[SpecialCodeIndex::VSUSP] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &ours)?;
    }
    *OURS.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    write(ENTER)
}

/// Puts the terminal back where it was taken. Whoever ends the process calls it.
pub fn leave() {
    let taken = OURS.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(before) = taken else { return };
    // A terminal that is gone needs nothing put back.
    let _ = write(LEAVE);
    if let Some(before) = before {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

//! A terminal to run the program in, and what is on its screen afterwards.

use rustix::termios::{LocalModes, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A program whose standard error, or all it reads and writes, is a terminal.
pub struct Terminal {
    /// The other end.
    master: File,
    pub child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    columns: usize,
}

fn pair(columns: u16, rows: u16) -> (OwnedFd, OwnedFd) {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let (mut master, mut slave) = (-1, -1);
    // SAFETY: two places for file descriptors and a size are handed over, and no name or settings.
    let made = unsafe {
        let none = std::ptr::null_mut();
        libc::openpty(&raw mut master, &raw mut slave, none, std::ptr::null(), &raw const size)
    };
    assert_eq!(made, 0, "a terminal");
    // SAFETY: openpty has just opened both for us, and nothing else owns them.
    unsafe { (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) }
}

impl Terminal {
    /// Starts a program with its standard error on a terminal of this size.
    pub fn start(command: &mut Command, columns: u16, rows: u16) -> Self {
        let (master, slave) = pair(columns, rows);
        command.stdout(Stdio::piped()).stderr(Stdio::from(slave));
        Self::begin(command, master, columns)
    }

    /// Starts a program that reads from, and writes to, nothing else.
    pub fn of_all(command: &mut Command, columns: u16, rows: u16) -> Self {
        let (master, slave) = pair(columns, rows);
        let copy = || Stdio::from(slave.try_clone().expect("a descriptor"));
        command.stdin(copy()).stdout(copy()).stderr(copy());
        Self::begin(command, master, columns)
    }

    fn begin(command: &mut Command, master: OwnedFd, columns: u16) -> Self {
        command.env("TERM", "xterm");
        let child = command.spawn().expect("the program starts");
        // The command keeps the terminal open as long as it is there.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let master = File::from(master);
        let (mine, mut reads) = (Arc::clone(&seen), master.try_clone().expect("a descriptor"));
        let reader = std::thread::spawn(move || {
            let mut some = [0; 4096];
            // When the last writer is gone, reading fails.
            while let Ok(n @ 1..) = reads.read(&mut some) {
                mine.lock().expect("no panic").extend_from_slice(&some[..n]);
            }
        });
        Self { master, child, seen, reader, columns: columns.into() }
    }

    /// Types something.
    pub fn press(&self, keys: &str) {
        (&self.master).write_all(keys.as_bytes()).expect("a terminal");
    }

    /// What the terminal does with keys.
    pub fn modes(&self) -> LocalModes {
        tcgetattr(&self.master).expect("a terminal").local_modes
    }

    /// Waits for the end; gives the exit status, all that was written and the modes afterwards.
    pub fn end_with_modes(mut self) -> (i32, String, LocalModes) {
        let status = self.child.wait().expect("it ends").code().unwrap_or(-1);
        let modes = self.modes();
        self.reader.join().expect("no panic");
        let seen = self.seen.lock().expect("no panic");
        (status, String::from_utf8_lossy(&seen).into_owned(), modes)
    }

    /// What was written so far.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("no panic")).into_owned()
    }

    pub fn screen(&self) -> Vec<String> {
        screen(&self.written(), self.columns)
    }

    /// Waits for the end; gives the exit status, what was printed, and the screen.
    pub fn end(mut self) -> (i32, String, Vec<String>) {
        let mut out = String::new();
        let mut pipe = self.child.stdout.take().expect("a pipe");
        pipe.read_to_string(&mut out).expect("text");
        let status = self.child.wait().expect("it ends").code().unwrap_or(-1);
        self.reader.join().expect("no panic");
        let seen = self.seen.lock().expect("no panic");
        let screen = screen(&String::from_utf8_lossy(&seen), self.columns);
        (status, out, screen)
    }
}

/// What a terminal shows of a text with the few sequences the program uses: up, erase to the end of
/// the screen, erase the line, colours. Any other is a panic.
pub fn screen(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                lines.resize(lines.len().max(row + 1), Vec::new());
            }
            '\x1b' => {
                assert_eq!(chars.next(), Some('['), "a sequence of its own");
                let mut number = String::new();
                while let Some(digit) = chars.next_if(|c| c.is_ascii_digit() || *c == ';') {
                    number.push(digit);
                }
                match chars.next() {
                    Some('A') => row = row.checked_sub(number.parse().expect("rows")).expect("up"),
                    Some('J') => {
                        lines.truncate(row + 1);
                        lines[row].truncate(column);
                    }
                    Some('K') => lines[row].clear(),
                    Some('m') => {}
                    other => panic!("an unknown sequence: {number}{other:?}"),
                }
            }
            c => {
                assert!(column < columns, "a line wraps: {:?}", lines[row]);
                if lines[row].len() <= column {
                    lines[row].resize(column + 1, ' ');
                }
                lines[row][column] = c;
                column += 1;
            }
        }
    }
    let mut shown: Vec<String> = lines.into_iter().map(String::from_iter).collect();
    while shown.last().is_some_and(String::is_empty) {
        shown.pop();
    }
    shown
}

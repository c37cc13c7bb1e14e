//! How events get from the kernel's buffers to us: what the two ways have in common.

use super::error::CaptureError;
use super::page::PageLayout;
use super::plan::Events;
use rustix::time::{ClockId, clock_gettime};
use seekwell_sys::thread::start;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes handed over at once, about.
pub(super) const CHUNK: usize = 256 << 10;
/// Chunks that may wait to be decoded: a quarter of a gibibyte, while a sink writes.
const WAITING: usize = 1024;
/// How long a request that was under way at the end has to complete.
const GRACE_NS: u64 = 200_000_000;
/// An event may be written this long after its time was taken, when the CPU is taken from the
/// kernel in between (a virtual machine). Events are kept back this long before they are sorted.
const SLACK_NS: u64 = 50_000_000;
/// Buffers are looked at this often.
const SHORTEST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(100);
/// Losses are counted this often, while nothing ends.
const COUNT_LOSSES_NS: u64 = 500_000_000;

/// What was read of the buffer of one CPU.
pub(super) struct Chunk {
    pub cpu: u16,
    pub bytes: Vec<u8>,
}

/// What the reading thread sends.
pub(super) enum Message {
    Chunk(Chunk),
    /// Everything before this time was sent.
    Until(u64),
    /// Everything was sent; requests that came after this time do not count.
    Ended(u64),
    Failed(CaptureError),
}

/// How the bytes of chunks are laid out.
#[derive(Debug)]
pub(super) enum Encoding {
    /// Pages of the ring buffer, all of one size, with these events.
    Pages(Events, PageLayout, usize),
    /// [`super::raw::RawEvent`]s.
    Raw,
}

/// A way of getting at the buffers.
pub(super) trait Transport: Send {
    /// Bytes that the buffer of one CPU holds.
    fn capacity(&self) -> usize;
    fn start(&mut self) -> Result<(), CaptureError>;
    /// Reads what is there. Gives the most bytes that came from one CPU.
    fn drain(&mut self, send: &mut dyn FnMut(Chunk)) -> Result<usize, CaptureError>;
    /// Events lost so far.
    fn lost(&mut self) -> Result<u64, CaptureError>;
    /// Ends; what is in the buffers stays.
    fn stop(&mut self) -> Result<(), CaptureError>;
}

/// What the reading thread and its watchers share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub stop: AtomicBool,
    pub lost: AtomicU64,
}

/// The thread that empties the buffers, whatever the rest of the program waits for.
pub(super) struct Pump {
    pub shared: Arc<Shared>,
    pub messages: Receiver<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Pump {
    /// Begins to record and to read.
    pub fn start(
        mut transport: Box<dyn Transport>,
        shared: Arc<Shared>,
    ) -> Result<Self, CaptureError> {
        let (sender, messages) = sync_channel(WAITING);
        transport.start()?;
        let theirs = Arc::clone(&shared);
        let run = move || {
            if let Err(error) = pump(&mut *transport, &theirs, &sender) {
                // Nobody listens any more when the recording was dropped.
                let _ = sender.send(Message::Failed(error));
            }
        };
        let thread = start("seekwell-trace", run).map_err(|e| CaptureError::Thread(e.into()))?;
        let thread = Some(thread);
        Ok(Self { shared, messages, thread })
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        // A thread that waits to send would wait forever.
        let (_, nobody) = sync_channel(1);
        drop(std::mem::replace(&mut self.messages, nobody));
        if let Some(thread) = self.thread.take() {
            // Its panic was printed; its instance was removed by the guard.
            let _ = thread.join();
        }
    }
}

/// Now, on the clock of the events.
pub(crate) fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Reads until asked to stop and for a moment longer.
fn pump(
    transport: &mut dyn Transport,
    shared: &Shared,
    sender: &SyncSender<Message>,
) -> Result<(), CaptureError> {
    let mut pause = LONGEST / 4;
    let mut ended: Option<u64> = None;
    let mut counted = 0;
    loop {
        let now = monotonic();
        if ended.is_none() && shared.stop.load(Relaxed) {
            ended = Some(now);
        }
        let last = ended.is_some_and(|at| now >= at + GRACE_NS);
        if last {
            transport.stop()?;
        }
        let mut heard = true;
        let most = transport.drain(&mut |chunk| {
            heard &= sender.send(Message::Chunk(chunk)).is_ok();
        })?;
        if last || now >= counted + COUNT_LOSSES_NS {
            shared.lost.store(transport.lost()?, Relaxed);
            counted = now;
        }
        let told = match (last, ended) {
            (true, Some(at)) => Message::Ended(at),
            _ => Message::Until(now.saturating_sub(SLACK_NS)),
        };
        heard &= sender.send(told).is_ok();
        if last || !heard {
            return Ok(());
        }
        pause = match most {
            m if m > transport.capacity() / 8 => (pause / 4).max(SHORTEST),
            m if m < transport.capacity() / 32 => (pause * 2).min(LONGEST),
            _ => pause,
        };
        std::thread::sleep(pause);
    }
}

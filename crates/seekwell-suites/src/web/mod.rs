//! `web`: static pages, served from a tree on the target and loaded over HTTP.
//!
//! Published figures of web servers on disks (ApacheBench against Apache, few and many connections,
//! gigabytes of pictures) mix four things: the server, the load, the page cache and the disk. Here
//! each step says which of them it is about: *warm* steps find all pages in the cache, *cold* ones
//! drop each page from it right before it is asked for, and what the disk read stands beside it.

mod client;
mod connection;
pub(crate) mod error;
mod server;
mod site;
mod tree;

pub use client::{Load, Served, load};
pub use error::WebError;
pub use server::Server;
pub use site::{Page, Site};
pub use tree::{Sizes, Tree};

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, Step, StepResult};
use crate::limit::{Watch, Workers};
use crate::lists;
use crate::load::Load as DiskLoad;
use crate::settings::Values::{Bytes, Count, OneOf, Text};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, through_cache};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::request::Op;
use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Seed of sizes, so that every round and every machine serves the same pages.
const TREE_SEED: u64 = 0x5EEC_0DE5;
/// Under this share the disk did not serve what was asked for.
const FROM_DISK: f64 = 0.9;
/// Over this share a warm step was not served from memory.
const FROM_MEMORY: f64 = 0.01;

pub static SUITE: Suite = Suite {
    name: "web",
    title: "web pages",
    does: "Writes a tree of pages, serves them over HTTP and loads them with few and many \
           connections, from the page cache and from the disk.",
    takes: ["20 seconds", "3 minutes"],
    writes: "the pages: 60 MiB in the quick form, 1.2 GiB in the full one",
    source: "ApacheBench (closed loop, HTTP/1.0); the web server load of Tweakers' StorageMark",
    on: On::Directory,
    tunables: tunables! {
        "pages" Count(1, 500_000), "1000" | "20000": "how many pages";
        "smallest" Bytes(1, 1 << 30), "4k" | "4k": "size of the smallest page";
        "largest" Bytes(1, 1 << 30), "256k" | "256k":
            "size of the largest page; every power of two between is equally likely";
        "cache" Text, "warm,cold" | "warm,cold": "the state of the page cache, a list";
        "concurrency" Text, "2,20" | "2,20": "connections at a time, a list";
        "keep-alive" OneOf(&["off", "on"]), "off" | "off":
            "whether connections are kept from page to page";
        "read" Bytes(512, 1 << 20), "64k" | "64k":
            "how much is read from a connection at a time; ApacheBench reads 8k";
        "seconds" Count(1, 3600), "3" | "30": "time of each step";
        "server" Text, "embedded" | "embedded":
            "address under which another server serves the target directory: \
             http://HOST[:PORT][/FOLDER]; embedded: the program's own";
    },
    check,
    needs,
    direct: through_cache,
    steps,
};

/// Pages that the page cache holds: the processor's work alone.
pub const WARM: DiskLoad = DiskLoad::Host { work: "page", things: 1.0 };
const COLD: &str = "the file system that the pages are read through is not modelled; --suite \
                    storagemark plays the recorded requests of a picture server";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
    Warm,
    Cold,
}

fn caches(settings: &Settings) -> Result<Vec<Cache>, SuiteError> {
    lists::words(settings, "cache", &[("warm", Cache::Warm), ("cold", Cache::Cold)])
}

fn concurrency(settings: &Settings) -> Result<Vec<u32>, SuiteError> {
    lists::numbers(settings, "concurrency", 1, 1000)
}

fn sizes(settings: &Settings) -> Sizes {
    Sizes {
        pages: settings.number("pages") as u32,
        smallest_bytes: settings.number("smallest"),
        largest_bytes: settings.number("largest"),
        seed: TREE_SEED,
    }
}

fn check(settings: &Settings) -> Result<(), SuiteError> {
    caches(settings)?;
    concurrency(settings)?;
    if settings.word("server") != EMBEDDED {
        Site::parse(settings.word("server"))?;
    }
    let (smallest, largest) = (settings.number("smallest"), settings.number("largest"));
    if smallest > largest {
        return Err(SuiteError::BadValue {
            name: "smallest".into(),
            value: smallest.to_string(),
            needed: format!("{largest} at most, the size of the largest page"),
        });
    }
    Ok(())
}

const EMBEDDED: &str = "embedded";

fn needs(settings: &Settings) -> Needs {
    let sizes = sizes(settings).draw();
    let blocks = sizes.iter().map(|bytes| bytes.next_multiple_of(4096)).sum();
    Needs { bytes: blocks, files: 2 * sizes.len() as u64 }
}

/// What the steps share: the tree is made by the first.
struct Shared {
    sizes: Sizes,
    server: String,
    tree: RefCell<Option<Arc<Tree>>>,
}

fn steps(settings: &Settings) -> Vec<Step> {
    let (Ok(caches), Ok(all)) = (caches(settings), concurrency(settings)) else {
        return Vec::new();
    };
    let server = settings.word("server").to_owned();
    let shared = Rc::new(Shared { sizes: sizes(settings), server, tree: RefCell::default() });
    let time = Duration::from_secs(settings.number("seconds"));
    let keep_alive = settings.word("keep-alive") == "on";
    let read_bytes = settings.number("read") as usize;
    let each = |cache| all.iter().map(move |&concurrency| (cache, concurrency));
    let step = |(cache, concurrency)| {
        let load = Load { concurrency, keep_alive, read_bytes, pages: None, time: Some(time) };
        let shared = Rc::clone(&shared);
        let (name, state, on_model) = match cache {
            Cache::Warm => ("warm", "from the page cache", WARM),
            Cache::Cold => ("cold", "from the disk", DiskLoad::None { why: COLD.into() }),
        };
        let (name, title) =
            (format!("{name}-c{concurrency}"), format!("pages {state}, {concurrency} at a time"));
        Step::new(name, title, "pages_per_s", time.into(), move |stage| {
            shared.run(stage, cache, &load)
        })
        .on_model(on_model)
    };
    caches.into_iter().flat_map(each).map(step).collect()
}

impl Shared {
    fn run(&self, stage: &Stage<'_>, cache: Cache, load: &Load) -> Result<StepResult, SuiteError> {
        let tree = self.tree(stage)?;
        let own = self.server == EMBEDDED;
        let server = own.then(|| Server::start(&tree, load.concurrency)).transpose()?;
        let site = match &server {
            Some(server) => Site::at(server.address()),
            None => below(Site::parse(&self.server)?, stage.path),
        };
        match cache {
            Cache::Warm => tree.warm()?,
            Cache::Cold => tree.forget_all()?,
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stage.seed);
        let mut next = || {
            let page = (random.next_u64() % u64::from(tree.pages())) as u32;
            if cache == Cache::Cold {
                tree.forget(page)?;
            }
            Ok(Page { name: tree.name(page), bytes: tree.bytes(page) })
        };
        // One thread loads; the server's run beside it.
        let threads = Workers::Own(u64::from(load.concurrency) + 1);
        let watch = Watch::begin(stage, if own { threads } else { Workers::Others });
        let served = client::load(&site, load, stage.stop, stage.progress, &mut next)?;
        let least = served.bytes as f64 * FROM_MEMORY;
        let mut result = watch.end_if(|counted| counted.read_bytes as f64 > least);
        result.measurement.elapsed = served.elapsed;
        result.requests(Op::Read, served.bytes, &served.latency);
        result.rate("pages_per_s", served.latency.count());
        result.rate("page_rate_bytes_per_s", served.bytes);
        result.latency("page_latency", &served.latency);
        result.latency("connect_latency", &served.connect);
        result.set("pages_count", served.latency.count() as f64);
        evidence(&mut result, cache, served.bytes);
        Ok(result)
    }

    /// The pages, made and synced by whichever step is the first.
    fn tree(&self, stage: &Stage<'_>) -> Result<Arc<Tree>, SuiteError> {
        if let Some(tree) = &*self.tree.borrow() {
            return Ok(Arc::clone(tree));
        }
        if self.server != EMBEDDED {
            // The other server is another user, who has to see the pages.
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(stage.path, open).doing("opening to others", stage.path)?;
        }
        let tree = Arc::new(Tree::make(stage.path, &self.sizes, stage.stop, &|_| ())?);
        *self.tree.borrow_mut() = Some(Arc::clone(&tree));
        Ok(tree)
    }
}

/// The suite's own directory at a site that has the target directory.
fn below(site: Site, own: &Path) -> Site {
    let name = own.file_name().unwrap_or_default().to_string_lossy();
    Site { prefix: format!("{}{name}/", site.prefix), ..site }
}

/// What the disk really read of the pages, beside what the step is about.
fn evidence(result: &mut StepResult, cache: Cache, bytes: u64) {
    let Some(counted) = result.device else { return };
    let share = counted.read_bytes as f64 / bytes.max(1) as f64;
    result.set("from_disk_share", share.min(1.0));
    let percent = 100.0 * share;
    match cache {
        Cache::Cold if share < FROM_DISK => result.notes.push(format!(
            "The disk read only {percent:.0} % of what was served: the rest came from a cache, and \
             this is not the disk's figure alone."
        )),
        Cache::Warm if share > FROM_MEMORY => result.notes.push(format!(
            "The disk read {percent:.0} % of what was served: memory did not hold the pages."
        )),
        _ => {}
    }
}

#[cfg(test)]
mod tests;

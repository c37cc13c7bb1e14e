//! Serves one page by the server of the suite `web` until standard input ends, so that another load
//! can be held against the suite's own. `serve-page DIRECTORY BYTES CONNECTIONS` prints its
//! address.

use seekwell_suites::web::{Server, Sizes, Tree};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[expect(clippy::print_stdout, reason = "the address is the result")]
fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, bytes, connections] = words.as_slice() else {
        return Err("usage: serve-page DIRECTORY BYTES CONNECTIONS".into());
    };
    let bytes = bytes.parse()?;
    let sizes = Sizes { pages: 1, smallest_bytes: bytes, largest_bytes: bytes, seed: 1 };
    let tree = Tree::make(Path::new(directory), &sizes, &AtomicBool::new(false), &|_| ())?;
    let tree = Arc::new(tree);
    let server = Server::start(&tree, connections.parse()?)?;
    println!("http://{}/{}", server.address(), tree.name(0));
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

//! `seekwell serve`: what is kept, or many hosts' runs in a database, to be read in
//! a browser.

use crate::Ended;
use crate::cli::serve::Serve;
use crate::context::{Context, place};
use crate::exit::{CommandError, Exit};
use crate::signals;
use seekwell_serve::{Server, Source};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;

pub fn run(args: &Serve, context: &Context) -> Ended {
    let wanted = SocketAddr::new(args.bind, args.port);
    let source = match &args.from.store {
        Some(url) => Source::Database(Box::new(place(url)?)),
        None => Source::Folder(context.store()?),
    };
    let server = Server::open(source, wanted, args.token.clone())?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    tell(&server, context)?;
    server.run(&context.control.stop)?;
    Ok(Exit::Interrupted)
}

/// Says where to look.
fn tell(server: &Server, context: &Context) -> Result<(), CommandError> {
    let address = server.url();
    if context.json {
        let token = server.token();
        let told = json!({"schema": "seekwell/serve/1", "address": address, "token": token});
        return context.print_json(&told);
    }
    context.print(&format!("{address}\n"))?;
    if !server.address().ip().is_loopback() {
        context.note("traffic is not encrypted: who can listen on the network can read it");
    }
    context.note("Ctrl-C ends it");
    Ok(())
}

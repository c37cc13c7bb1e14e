//! `seekwell serve`: what can be typed.

use super::ReadFrom;
use clap::Args;
use std::net::{IpAddr, Ipv4Addr};

/// `seekwell serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  seekwell serve                       then open http://127.0.0.1:8733/ in a browser
  ssh -L 8733:127.0.0.1:8733 server    look at another machine's runs without opening a port
  seekwell serve --bind 192.168.1.5    for the local network, with a token that is printed
  seekwell serve --store postgres://seekwell@db.example/fleet
                                       the runs of many hosts, from a PostgreSQL database

Addresses: / lists what is kept, /run/ID and /experiment/ID are the pages of one; /api/runs,
/api/run/ID and /api/experiment/ID are the same as JSON. With --store, / compares all hosts, /runs
lists their runs, and /api/fleet and /api/runs are the same as JSON. Nothing can be changed from
there.
Traffic is not encrypted: beyond this machine, prefer ssh -L.")]
pub struct Serve {
    /// Port to listen on; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 8733)]
    pub port: u16,
    /// Address to listen on; anything but loopback needs a token
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub bind: IpAddr,
    /// Token that readers must send, as ?token= or `Authorization: Bearer` [default: none on
    /// loopback, otherwise random]
    ///
    /// 16 to 128 letters, digits, `-`, `.`, `_` and `~`. Other users can see an argument; the
    /// environment variable they cannot.
    #[arg(long, value_name = "TOKEN", env = "SEEKWELL_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    #[command(flatten)]
    pub from: ReadFrom,
}

use super::*;
use crate::place::{Peer, Stream};
use seekwell_machine::library::{Shelf, machine};
use seekwell_sys::{Class, Classified};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;

fn server(socket: &Path) -> Result<Server, ServeError> {
    let model = Model::read("nvme-ssd", machine("nvme-ssd").unwrap(), &[], &Shelf::default());
    let options = Options {
        name: String::new(),
        data: None,
        memory_bytes: 1 << 20,
        seed: 1,
        faults: Vec::new(),
        down: Nanos::ZERO,
        lies: false,
    };
    Server::open(model.unwrap(), &Place::Unix(socket.to_path_buf()), options)
}

/// Leaves the socket of a server that was killed.
fn dead(socket: &Path) {
    drop(UnixListener::bind(socket).unwrap());
    assert!(socket.exists());
}

/// A machine served over a socket could not be served there again once its server was killed: the
/// socket was left behind, and its name was taken.
#[test]
fn the_socket_of_a_killed_server_is_replaced_and_gone_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("disk");
    dead(&socket);
    let served = server(&socket).unwrap();
    assert!(UnixStream::connect(&socket).is_ok());
    drop(served);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_socket_that_answers_and_a_file_that_is_none_stay_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |name: &str, why: &str| {
        let error = server(&dir.path().join(name)).unwrap_err();
        assert!(error.to_string().contains(why), "{name}: {error}");
        assert_eq!(error.class(), Class::Refused, "{name}");
        assert!(dir.path().join(name).symlink_metadata().is_ok(), "{name}");
    };
    let live = UnixListener::bind(dir.path().join("live")).unwrap();
    // Also once no connection is accepted any more.
    rustix::net::listen(&live, 0).unwrap();
    refused("live", "a server answers there");
    refused("live", "a server answers there");
    let _datagrams = UnixDatagram::bind(dir.path().join("datagrams")).unwrap();
    refused("datagrams", "cannot listen");
    dead(&dir.path().join("dead"));
    std::os::unix::fs::symlink("dead", dir.path().join("link")).unwrap();
    refused("link", "not a socket");
    fs::write(dir.path().join("file"), "kept").unwrap();
    refused("file", "not a socket");
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"kept");
    fs::create_dir(dir.path().join("folder")).unwrap();
    refused("folder", "not a socket");
}

#[test]
fn a_socket_put_in_the_place_of_a_server_s_own_outlives_it() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("disk");
    let first = server(&socket).unwrap();
    fs::rename(&socket, dir.path().join("old")).unwrap();
    let second = server(&socket).unwrap();
    drop(first);
    assert!(UnixStream::connect(&socket).is_ok());
    drop(second);
    assert!(!socket.exists());
}

#[test]
fn of_servers_that_begin_together_over_a_dead_socket_one_listens() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let socket = dir.path().join(round.to_string());
        dead(&socket);
        let together = Arc::new(Barrier::new(4));
        let begun = (0..4).map(|_| {
            let (together, socket) = (Arc::clone(&together), socket.clone());
            thread::spawn(move || {
                together.wait();
                Listener::open(&Place::Unix(socket))
            })
        });
        let begun: Vec<_> = begun.collect();
        let begun: Vec<_> = begun.into_iter().map(|one| one.join().unwrap()).collect();
        assert_eq!(begun.iter().filter(|one| one.is_ok()).count(), 1, "round {round}");
        assert!(UnixStream::connect(&socket).is_ok(), "round {round}: its socket was removed");
    }
}

/// Sixteen connections that said nothing kept every client out for as long as they liked.
#[test]
fn a_client_is_served_beside_any_number_of_half_open_connections() {
    const GO: [&[u8]; 3] = [b"\0\0\0\x03IHAVEOPT", b"\0\0\0\x07\0\0\0\x06", &[0; 6]];
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("disk");
    let (served, stop) = (server(&socket).unwrap(), AtomicBool::new(false));
    let connect = || UnixStream::connect(&socket).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let _stop = Stop(&stop);
            let _half_open: Vec<_> = (0..100).map(|_| connect()).collect();
            for round in 0..20 {
                let mut client = connect();
                client.write_all(&GO.concat()).unwrap();
                // The greeting and the replies INFO_EXPORT, INFO_BLOCK_SIZE and ACK.
                let mut told = [0; 18 + (20 + 12) + (20 + 14) + 20];
                client.read_exact(&mut told).unwrap_or_else(|error| panic!("{round}: {error}"));
                assert!(told.starts_with(b"NBDMAGIC"), "{round}");
            }
        });
        assert_eq!(served.run(&stop, &mut |_| {}).unwrap().clients, 120);
    });
}

/// Ends a server with its last client, also with one that fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn a_handshake_has_two_seconds_and_an_idle_disk_as_long_as_it_likes() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let export = Export {
        name: String::new(),
        size_bytes: 4096,
        min_block: 512,
        rotational: false,
        trims: false,
    };
    let accepted = (Stream::Unix(ours), Peer::User(1));
    let mut client = Connection::new(accepted, Nanos::from_millis(500), export);
    assert!(!client.is_late(Nanos::from_millis(2500)) && client.is_late(Nanos::from_millis(2501)));
    assert_eq!(client.taken(7).idle_since, Some(Nanos::from_millis(500)));
    // The oldest way to ask for an export.
    (&theirs).write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
    assert!(client.receive(&mut [0; 64]).unwrap());
    assert_eq!(client.request(), Ok(None));
    assert!(!client.is_late(Nanos::MAX));
    assert_eq!(client.taken(7).idle_since, None);
}

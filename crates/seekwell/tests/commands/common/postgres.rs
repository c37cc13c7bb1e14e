//! A PostgreSQL server of a test's own: on a socket in a folder of its own, and on a port where it
//! is asked for, run by a user without privileges, and gone with the test.

use super::{is_root, skip, tool, wait_for};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const NOBODY: u32 = 65534;

pub struct Postgres {
    dir: tempfile::TempDir,
    programs: PathBuf,
    server: Child,
    port: u16,
    options: Vec<String>,
}

impl Postgres {
    /// Starts one that trusts every client of its socket.
    pub fn start() -> Option<Self> {
        Self::start_with(|_| Vec::new())
    }

    /// The same with more options, made of its folder once its user can write there; over TCP it
    /// asks for the password `secret`.
    pub fn start_with(options: impl FnOnce(&Path) -> Vec<String>) -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let programs = versions.map(|version| version.path().join("bin"));
        let Some(programs) = programs.max().filter(|bin| bin.join("initdb").exists()) else {
            skip("PostgreSQL is not installed");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("password"), "secret\n").unwrap();
        if is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(dir.path().join("password"), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let at = |name: &str| dir.path().join(name).display().to_string();
        let made = unprivileged(&programs.join("initdb"))
            .args(["-D", &at("data"), "-U", "tester", "--pwfile", &at("password")])
            .args(["--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"])
            .args(["--encoding=UTF8", "--locale=C"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut options = options(dir.path());
        options.extend(["fsync=off".to_owned(), "shared_buffers=16MB".to_owned()]);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = serve(&programs, dir.path(), port, &options);
        let postgres = Self { dir, programs, server, port, options };
        postgres.wait();
        Some(postgres)
    }

    /// The address of a database on its socket.
    pub fn url(&self, database: &str) -> String {
        let dir = self.dir.path().display();
        format!("postgres:///{database}?host={dir}&port={}&user=tester", self.port)
    }

    /// The same over TCP.
    pub fn tcp(&self, password: &str, options: &str) -> String {
        format!("postgres://tester:{password}@localhost:{}/postgres?{options}", self.port)
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// What a statement gives, in a line for each row.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let port = self.port.to_string();
        let words = ["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "tester", "-d", database];
        let mut psql = Command::new(self.programs.join("psql"));
        let done = psql.args(words).arg("-h").arg(self.dir.path()).args(["-p", &port, "-c", sql]);
        let done = done.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    /// Kills it as a crash would: with SIGKILL, or by its own emergency stop.
    pub fn crash(&mut self, outright: bool) {
        if outright {
            self.server.kill().unwrap();
        } else {
            super::signal(&self.server, "QUIT");
        }
        self.server.wait().unwrap();
    }

    pub fn restart(&mut self) {
        let ready = || {
            self.server = serve(&self.programs, self.dir.path(), self.port, &self.options);
            let mut up = false;
            // Processes of the one that was killed may hold its memory for a moment.
            wait_for("a start", || {
                up = self.is_up();
                up || self.server.try_wait().unwrap().is_some()
            });
            up
        };
        wait_for("a restart", ready);
    }

    fn is_up(&self) -> bool {
        let ready = Command::new(self.programs.join("pg_isready"))
            .args(["-q", "-p", &self.port.to_string(), "-h"])
            .arg(self.dir.path())
            .status();
        ready.is_ok_and(|status| status.success())
    }

    fn wait(&self) {
        wait_for("a server", || self.is_up());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.server.try_wait().is_ok_and(|ended| ended.is_none()) {
            tool("kill", &["-s", "QUIT", &self.server.id().to_string()]);
            let _ = self.server.wait();
        }
    }
}

/// A program as nobody, for this server refuses root; it dies with the test.
fn unprivileged(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        let id = NOBODY.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
    }
    command.args(["--pdeathsig", "QUIT"]).arg(program);
    command.env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
    command
}

fn serve(programs: &Path, dir: &Path, port: u16, options: &[String]) -> Child {
    let log = std::fs::File::create(dir.join("log")).unwrap();
    let mut command = unprivileged(&programs.join("postgres"));
    command.arg("-D").arg(dir.join("data")).arg("-k").arg(dir).args(["-p", &port.to_string()]);
    if !options.iter().any(|option| option.starts_with("listen_addresses")) {
        command.args(["-c", "listen_addresses="]);
    }
    command.args(options.iter().flat_map(|option| ["-c", option]));
    command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

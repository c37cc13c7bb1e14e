//! MariaDB with the tables of a news-and-prices site, and the pages that query it.

use super::apache::{Apache, wait_for};
use super::confine::Room;
use super::place::TestBed;
use crate::{Failure, process};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const SCHEMA: &str = include_str!("site/schema.sql");
const PAGES: [(&str, &str); 2] =
    [("page.php", include_str!("site/page.php")), ("random.php", include_str!("site/random.php"))];

/// Pages that run at once: 50 that ab asks for and the 50 that these open.
const PHP: u32 = 110;
/// Bytes of MariaDB's own cache at full scale: fitted. Of 128, 80 and 40 MiB at a quarter of the
/// scene, 40 came nearest to the published 500 queries a second of the heavy trace.
const POOL: u64 = 160 << 20;

pub struct Database {
    socket: PathBuf,
    child: Child,
}

/// PHP and the Apache before it.
pub struct Site {
    /// The web server.
    pub apache: Apache,
    _php: Php,
}

struct Php(Child);

impl Drop for Php {
    fn drop(&mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.0.id() as i32) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.0.wait();
    }
}

/// Bytes of MariaDB's own cache.
pub fn pool(scale: u32) -> u64 {
    POOL / u64::from(scale)
}

/// A text with the numbers of rows and paths put in.
fn filled(text: &str, scale: u32, socket: &str, port: u16) -> String {
    let rows = |full: u32| (full / scale).to_string();
    text.replace("{news}", &rows(80_000))
        .replace("{comments}", &rows(1_600_000))
        .replace("{authors}", &rows(200_000))
        .replace("{products}", &rows(160_000))
        .replace("{prices}", &rows(4_000_000))
        .replace("{socket}", socket)
        .replace("{port}", &port.to_string())
}

impl Database {
    /// Makes an empty one on the scene's disk.
    pub fn install(place: &TestBed) -> Result<(), Failure> {
        let data = place.root().join("mysql");
        process::text(
            Command::new("mariadb-install-db")
                .arg("--no-defaults")
                .arg(format!("--datadir={}", data.display()))
                .args(["--user=root", "--auth-root-authentication-method=normal"])
                .args(["--skip-test-db", "--skip-name-resolve"]),
        )
        .map(drop)
    }

    /// Starts it. `commit` is what a commit waits for: 1 for the disk, 0 for nothing.
    pub fn start(place: &TestBed, scale: u32, commit: u32) -> Result<Self, Failure> {
        let data = place.root().join("mysql");
        let socket = place.aside().join("mysql.sock");
        let errors = place.aside().join("mysql.err");
        let mut child = place
            .confine
            .command(Room::Limited, "/usr/sbin/mariadbd")
            .args(["--no-defaults", "--user=root", "--skip-networking", "--skip-grant-tables"])
            .args(["--performance-schema=OFF", "--skip-log-bin", "--innodb-log-file-size=48M"])
            .args(["--innodb-buffer-pool-dump-at-shutdown=OFF", "--max-connections=200"])
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--pid-file={}", place.aside().join("mysql.pid").display()))
            .arg(format!("--tmpdir={}", place.aside().display()))
            .arg(format!("--innodb-buffer-pool-size={}", pool(scale)))
            .arg(format!("--innodb-flush-log-at-trx-commit={commit}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&errors)?)
            .spawn()?;
        let ready = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
        wait_for("mariadbd", &mut child, ready).map_err(|e| {
            format!("{e}: {}", fs::read_to_string(&errors).unwrap_or_default().trim())
        })?;
        Ok(Self { socket, child })
    }

    fn client(&self) -> Command {
        let mut command = Command::new("mariadb");
        command.args(["--no-defaults", "--user=root", "--batch", "--skip-column-names"]);
        command.arg(format!("--socket={}", self.socket.display()));
        command
    }

    /// Makes the site's tables and fills them.
    pub fn fill(&self, place: &TestBed, scale: u32) -> Result<(), Failure> {
        let file = place.aside().join("schema.sql");
        fs::write(&file, filled(SCHEMA, scale, "", 0))?;
        process::text(self.client().arg("-e").arg(format!("source {}", file.display()))).map(drop)
    }

    /// Bytes of tables and their indexes.
    pub fn bytes(&self) -> Result<u64, Failure> {
        let sql = "SELECT CAST(SUM(data_length + index_length) AS UNSIGNED) \
                   FROM information_schema.tables WHERE table_schema = 'site'";
        Ok(process::text(self.client().args(["-e", sql]))?.trim().parse()?)
    }

    /// Queries it was asked since it started.
    pub fn queries(&self) -> Result<u64, Failure> {
        let text =
            process::text(self.client().args(["-e", "SHOW GLOBAL STATUS LIKE 'Questions'"]))?;
        Ok(text.split_whitespace().last().ok_or("MariaDB told no count")?.parse()?)
    }

    /// Ends it in order.
    pub fn stop(mut self) -> Result<(), Failure> {
        process::text(self.client().args(["-e", "SHUTDOWN"]))?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Site {
    /// Starts PHP and Apache. Nothing of both is on the scene's disk, and nothing is logged.
    pub fn start(place: &TestBed, database: &Database, scale: u32) -> Result<Self, Failure> {
        let pages = place.aside().join("pages");
        fs::create_dir_all(&pages)?;
        let fcgi = place.aside().join("php.sock");
        let mut child = place
            .confine
            .command(Room::Free, "php-cgi8.2")
            .args(["-d", "memory_limit=32M", "-b"])
            .arg(&fcgi)
            .env("PHP_FCGI_CHILDREN", PHP.to_string())
            .env("PHP_FCGI_MAX_REQUESTS", "1000000")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let ready = || std::os::unix::net::UnixStream::connect(&fcgi).is_ok();
        wait_for("php-cgi", &mut child, ready)?;
        let php = Php(child);
        // Apache's workers run as nobody.
        fs::set_permissions(&fcgi, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
        let rest = format!(
            "DocumentRoot {pages}\nErrorLog {aside}/site.err\nLogLevel error\n\
             ProxyFCGIBackendType GENERIC\n\
             <Directory {pages}>\nRequire all granted\n</Directory>\n\
             <FilesMatch \"\\.php$\">\nSetHandler \"proxy:unix:{fcgi}|fcgi://localhost\"\n\
             </FilesMatch>\n",
            pages = pages.display(),
            aside = place.aside().display(),
            fcgi = fcgi.display(),
        );
        let apache = Apache::start(&place.confine, place.aside(), &["proxy", "proxy_fcgi"], &rest)?;
        let socket = database.socket.to_string_lossy();
        for (name, text) in PAGES {
            fs::write(pages.join(name), filled(text, scale, &socket, apache.port))?;
        }
        Ok(Self { apache, _php: php })
    }
}

//! Where a database is, as libpq's users say it: an address, and the environment for what the
//! address leaves out.

use crate::error::FleetError;
use postgres::Config;
use postgres::config::{Host, SslMode};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PORT: u16 = 5432;
const SOCKETS: &str = "/run/postgresql";
const CONNECT: Duration = Duration::from_secs(10);
/// A peer that is gone is noticed within half a minute.
const SILENCE: Duration = Duration::from_secs(15);

/// A PostgreSQL database, and how to reach it.
#[derive(Debug, Clone)]
pub struct Place {
    pub(super) config: Config,
    /// File of the certificates that are trusted, if it is not the system's.
    pub(super) roots: Option<PathBuf>,
    name: String,
}

impl Place {
    /// Reads an address, `postgres://USER@HOST:PORT/DATABASE?sslmode=require`. `var` gives the
    /// variables of libpq, which fill in what it leaves out.
    ///
    /// # Errors
    /// [`FleetError::Address`], which does not repeat it, for it may hold a password.
    pub fn parse(url: &str, var: impl Fn(&str) -> Option<String>) -> Result<Self, FleetError> {
        let var = |name: &str| var(name).filter(|value| !value.is_empty());
        let (address, options) = url.split_once('?').unwrap_or((url, ""));
        if !["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme)) {
            return Err(FleetError::Address);
        }
        let (mut mode, mut roots) = (var("PGSSLMODE"), var("PGSSLROOTCERT"));
        let mut others = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => roots = Some(value.to_owned()),
                _ => others.push(option),
            }
        }
        let mut plain = address.to_owned();
        if !others.is_empty() {
            plain = format!("{address}?{}", others.join("&"));
        }
        let mut config: Config = plain.parse().map_err(|_| FleetError::Address)?;
        fill(&mut config, &var)?;
        let remote = config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(_)));
        config.ssl_mode(match mode.as_deref().filter(|_| remote) {
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            Some("disable") => SslMode::Disable,
            Some("prefer" | "allow") => SslMode::Prefer,
            None if remote => SslMode::Prefer,
            None => SslMode::Disable,
            Some(_) => return Err(FleetError::Address),
        });
        let own = var("HOME").map(|home| Path::new(&home).join(".postgresql/root.crt"));
        let roots = match roots {
            Some(file) if file == "system" => None,
            Some(file) => Some(PathBuf::from(file)),
            None => own.filter(|file| file.exists()),
        };
        let name = name(&config);
        Ok(Self { config, roots, name })
    }

    /// The address without user and password.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What the address leaves out.
fn fill(config: &mut Config, var: &impl Fn(&str) -> Option<String>) -> Result<(), FleetError> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        for host in var("PGHOST").as_deref().unwrap_or(SOCKETS).split(',') {
            config.host(host);
        }
    }
    if let (true, Some(port)) = (config.get_ports().is_empty(), var("PGPORT")) {
        config.port(port.parse().map_err(|_| FleetError::Address)?);
    }
    if let (None, Some(user)) = (config.get_user(), var("PGUSER")) {
        config.user(&user);
    }
    if let (None, Some(database)) = (config.get_dbname(), var("PGDATABASE")) {
        config.dbname(&database);
    }
    if config.get_connect_timeout().is_none() {
        let seconds = var("PGCONNECT_TIMEOUT").and_then(|text| text.parse().ok());
        config.connect_timeout(seconds.map_or(CONNECT, Duration::from_secs));
    }
    if config.get_password().is_none()
        && let Some(password) = var("PGPASSWORD").or_else(|| from_file(config, var))
    {
        config.password(password);
    }
    config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 3).keepalives_retries(3);
    config.tcp_user_timeout(2 * SILENCE).application_name("seekwell");
    Ok(())
}

/// The password that libpq's file has for this database; none from a file that others can read.
fn from_file(config: &Config, var: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let home = || var("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let path = var("PGPASSFILE").map(PathBuf::from).or_else(home)?;
    if fs::metadata(&path).ok()?.mode() & 0o077 != 0 {
        return None;
    }
    let user = config.get_user().map(str::to_owned).or_else(|| var("USER"))?;
    let database = config.get_dbname().unwrap_or(&user);
    let port = config.get_ports().first().unwrap_or(&PORT).to_string();
    let host = match config.get_hosts().first()? {
        Host::Tcp(host) => host.clone(),
        Host::Unix(dir) if dir == Path::new(SOCKETS) => "localhost".to_owned(),
        Host::Unix(dir) => dir.display().to_string(),
    };
    let wanted = [host.as_str(), &port, database, &user];
    let text = fs::read_to_string(path).ok()?;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let (password, key) = fields.split_last().filter(|(_, key)| key.len() == 4)?;
        let fits = key.iter().zip(wanted).all(|(have, want)| have == "*" || have == want);
        fits.then(|| password.clone())
    })
}

/// The fields of a line, in which `\` makes a `:` a character.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, fields.last_mut()) {
            (':', _) => fields.push(String::new()),
            ('\\', Some(field)) => field.extend(chars.next()),
            (c, Some(field)) => field.push(c),
            (_, None) => {}
        }
    }
    fields
}

fn name(config: &Config) -> String {
    let (mut hosts, mut options) = (Vec::new(), Vec::new());
    for (at, host) in config.get_hosts().iter().enumerate() {
        let ports = config.get_ports();
        let port = ports.get(at).or_else(|| ports.first()).filter(|port| **port != PORT);
        match (host, port) {
            (Host::Tcp(host), Some(port)) => hosts.push(format!("{host}:{port}")),
            (Host::Tcp(host), None) => hosts.push(host.clone()),
            (Host::Unix(dir), port) => {
                options.push(format!("host={}", dir.display()));
                options.extend(port.map(|port| format!("port={port}")));
            }
        }
    }
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    let options =
        if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
    format!("postgres://{}/{database}{options}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn a_place_is_named_without_its_password_and_a_bad_address_is_not_repeated() {
        for (url, name) in [
            (
                "postgres://me:secret@db.example/fleet?sslmode=require",
                "postgres://db.example/fleet",
            ),
            ("postgresql://me:secret@db:5433/fleet", "postgres://db:5433/fleet"),
            ("postgres://me:sec?ret@db/fleet", "postgres://db/fleet"),
            ("postgres:///fleet", "postgres:///fleet?host=/run/postgresql"),
            ("postgres:///x?host=/tmp/a&port=5433", "postgres:///x?host=/tmp/a&port=5433"),
        ] {
            assert_eq!(Place::parse(url, none).unwrap().name(), name);
        }
        for url in [
            "",
            "mysql://me:secret@db/fleet",
            "postgres://me:secret@db:port/fleet",
            "postgres://db/fleet?sslmode=secret",
            "postgres://db/fleet?colour=secret",
        ] {
            let error = Place::parse(url, none).unwrap_err().to_string();
            assert!(error.contains("postgres://") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn what_an_address_leaves_out_comes_from_the_variables_of_libpq() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pgpass");
        fs::write(&file, "# all\nother:*:*:*:no\n*:5433:fl\\:eet:me:a\\\\b\\:c\n").unwrap();
        let var = |name: &str| {
            let value = match name {
                "PGHOST" => "db",
                "PGPORT" => "5433",
                "PGUSER" => "me",
                "PGDATABASE" => "fl:eet",
                "PGPASSFILE" => file.to_str().unwrap(),
                "PGSSLMODE" => "verify-full",
                "PGCONNECT_TIMEOUT" => "3",
                _ => return None,
            };
            Some(value.to_owned())
        };
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let open = Place::parse("postgres://", var).unwrap();
        assert_eq!(open.config.get_password(), None, "others can read the file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let place = Place::parse("postgres://", var).unwrap();
        assert_eq!(place.name(), "postgres://db:5433/fl:eet");
        assert_eq!(place.config.get_password(), Some(&b"a\\b:c"[..]));
        assert_eq!(place.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(place.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        let other = Place::parse("postgres://you@db/x", var).unwrap();
        assert_eq!(other.config.get_password(), None);
    }
}

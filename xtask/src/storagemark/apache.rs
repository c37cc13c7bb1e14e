//! Apache as Debian packs it, with a configuration of its own.

use super::confine::{Confine, Room};
use crate::Failure;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Where Debian puts modules.
const MODULES: &str = "/usr/lib/apache2/modules";
/// How long a server may take to answer.
const READY: Duration = Duration::from_secs(60);

pub struct Apache {
    /// Where it listens, on the loopback address.
    pub port: u16,
    child: Child,
}

impl Apache {
    /// Starts it with `rest` of the configuration; `{port}` in it stands for the port.
    pub fn start(
        confine: &Confine,
        aside: &Path,
        modules: &[&str],
        rest: &str,
    ) -> Result<Self, Failure> {
        let port = free_port()?;
        let mut text = format!(
            "ServerRoot {0}\nPidFile {0}/apache.pid\nDefaultRuntimeDir {0}\nServerName localhost\n\
             Listen 127.0.0.1:{port}\nUser nobody\nGroup nogroup\nMutex file:{0}\n\
             EnableSendfile On\nThreadsPerChild 64\nServerLimit 4\nMaxRequestWorkers 256\n\
             StartServers 2\n",
            aside.display()
        );
        for module in ["mpm_event", "authz_core"].iter().chain(modules) {
            text += &format!("LoadModule {module}_module {MODULES}/mod_{module}.so\n");
        }
        text += &rest.replace("{port}", &port.to_string());
        let conf = aside.join("apache.conf");
        fs::write(&conf, text)?;
        let child = confine
            .command(Room::Limited, "/usr/sbin/apache2")
            .args(["-D", "FOREGROUND", "-f"])
            .arg(&conf)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(aside.join("apache.err"))?)
            .spawn()?;
        let mut apache = Self { port, child };
        wait_for("apache2", &mut apache.child, || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
        })
        .map_err(|e| {
            let said = fs::read_to_string(aside.join("apache.err")).unwrap_or_default();
            format!("{e}: {}", said.trim())
        })?;
        Ok(apache)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16, Failure> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Waits until `ready`, or says why that will not be.
pub fn wait_for(
    name: &str,
    child: &mut Child,
    mut ready: impl FnMut() -> bool,
) -> Result<(), Failure> {
    let start = Instant::now();
    while !ready() {
        if let Some(status) = child.try_wait()? {
            return Err(format!("{name} ended at its start ({status})").into());
        }
        if start.elapsed() > READY {
            return Err(format!("{name} did not answer within {} s", READY.as_secs()).into());
        }
        sleep(Duration::from_millis(50));
    }
    Ok(())
}

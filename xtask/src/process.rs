//! Running programs to their end.

use crate::Failure;
use std::process::{Command, Stdio};

/// What a command prints that must end well.
pub fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    output_of(command, &[0])
}

pub fn output_of(command: &mut Command, statuses: &[i32]) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|e| format!("cannot start {name}: {e}"))?;
    if output.status.code().is_some_and(|code| statuses.contains(&code)) {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name} failed ({}): {}", output.status, said.trim()).into())
}

/// The same as [`output`], as text.
pub fn text(command: &mut Command) -> Result<String, Failure> {
    Ok(String::from_utf8(output(command)?)?)
}

/// What fio printed, which may begin with notes.
pub fn fio_json(text: &[u8]) -> Result<serde_json::Value, Failure> {
    let start = text.iter().position(|b| *b == b'{').ok_or("fio printed no JSON")?;
    Ok(serde_json::from_slice(&text[start..])?)
}

/// The first line that a command prints, such as its version.
pub fn first_line(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().map(|o| o.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or("not known").to_owned()
}

/// Killed when its parent dies, even of SIGKILL; not hit by the terminal's Ctrl-C, which the parent
/// handles.
pub fn follow_parent() -> std::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal, setpgid};
    setpgid(None, None)?;
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_program_its_status_and_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no room >&2; exit 7"]);
        let error = output(&mut command).unwrap_err().to_string();
        assert_eq!(error, "sh failed (exit status: 7): no room");
        assert!(output_of(&mut command, &[0, 7]).is_ok());
        assert!(text(&mut Command::new("no-such-program")).is_err());
        assert_eq!(first_line(&mut Command::new("no-such-program")), "not known");
    }
}

//! What packagers get from `make dist`.

use clap::Command;
use std::fs;
use std::path::Path;

/// Every visible command below `command`, itself included, by the words that call it.
fn all(command: &Command, words: &str, out: &mut Vec<(String, Command)>) {
    out.push((words.to_owned(), command.clone()));
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        all(inner, &format!("{words} {}", inner.get_name()), out);
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_command_and_option_has_its_man_page_and_completion() {
    let dir = tempfile::tempdir().unwrap();
    let (man, completions) = (dir.path().join("man"), dir.path().join("completions"));
    fs::create_dir(&man).unwrap();
    fs::write(man.join("seekwell-gone.1"), "a page of a command that is gone").unwrap();
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["dist", "--out"])
        .arg(dir.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let scripts = ["_seekwell", "seekwell.bash", "seekwell.fish"];
    assert_eq!(names(&completions), scripts);
    let scripts = scripts.map(|name| fs::read_to_string(completions.join(name)).unwrap());

    let mut commands = Vec::new();
    all(&seekwell::cli::command(), "seekwell", &mut commands);
    let mut pages: Vec<_> =
        commands.iter().map(|(words, _)| format!("{}.1", words.replace(' ', "-"))).collect();
    pages.sort();
    assert_eq!(names(&man), pages);
    for (words, command) in commands {
        let page = fs::read_to_string(man.join(format!("{}.1", words.replace(' ', "-")))).unwrap();
        // roff escapes hyphens.
        let page = page.replace('\\', "");
        assert!(page.contains(".SH DESCRIPTION"), "{words} is not described");
        for option in command.get_arguments().filter(|a| !a.is_hide_set()) {
            let Some(long) = option.get_long() else { continue };
            assert!(page.contains(&format!("--{long}")), "{words}: the page lacks --{long}");
            for script in &scripts {
                assert!(script.contains(long), "{words}: a completion lacks --{long}");
            }
        }
    }
}

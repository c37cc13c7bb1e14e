//! `seekwell inspect` in a terminal: the attachment as a tree, the settings, what is not ordinary
//! and what could not be read.

use super::page::{BOLD, DIM, Page, Style};
use crate::attachment::{lines, settings};
use crate::describe::heading;
use crate::health::rows;
use crate::text::{clean, wrap};
use crate::units::capacity;
use anstyle::Style as Paint;
use seekwell_inspect::{Device, DeviceKind, Host, Inspection};

/// What inspection found, at most `width` columns wide (24 at least). Ends with a line end.
pub fn inspect(inspection: &Inspection, width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    page.text(&heading(inspection), "", "  ", BOLD);
    let machine = machine(&inspection.host);
    if !machine.is_empty() {
        page.text(&machine.join(" · "), "", "  ", DIM);
    }
    tree(&mut page, inspection);
    for device in queues(inspection) {
        table(&mut page, "Queue", device, &settings(device));
        if let Some(health) = &device.detail.health {
            table(&mut page, "Health", device, &rows(health));
        }
    }
    if !inspection.notes.is_empty() {
        page.heading("Notes");
        for note in &inspection.notes {
            page.text(&clean(note), "- ", "  ", Paint::new());
        }
    }
    if !inspection.missing.is_empty() {
        page.heading("Could not be read");
        for m in &inspection.missing {
            let text = format!("{}: {} ({})", clean(&m.what), clean(&m.reason), clean(&m.from));
            page.text(&text, "- ", "  ", Paint::new());
        }
    }
    page.finish()
}

/// What has a queue worth showing: the target's own, if it is no partition, and the disks'.
fn queues(inspection: &Inspection) -> Vec<&Device> {
    let disks = inspection.disks();
    let own = inspection.device.as_ref().filter(|d| d.kind != DeviceKind::Partition);
    let own = own.filter(|d| disks.iter().all(|disk| disk.name != d.name));
    own.into_iter().chain(disks).collect()
}

fn machine(host: &Host) -> Vec<String> {
    let text = |f: &Option<seekwell_inspect::Fact<String>>| f.as_ref().map(|f| clean(&f.value));
    let parts = [
        text(&host.kernel).map(|k| format!("Linux {k}")),
        text(&host.cpu_model),
        host.cpus.as_ref().map(|f| format!("{} CPUs", f.value)),
        host.memory_bytes.as_ref().map(|f| format!("{} of memory", capacity(f.value))),
        text(&host.virtualization).map(|v| format!("virtual machine ({v})")),
        text(&host.container).map(|c| format!("in a container ({c})")),
        text(&host.power.governor).map(|governor| match text(&host.power.driver) {
            Some(driver) => format!("frequency governor {governor} ({driver})"),
            None => format!("frequency governor {governor}"),
        }),
        host.power.idle_exit_us.as_ref().map(|exit| match text(&host.power.idle_state) {
            Some(state) => format!("deepest idle state {state}, exit latency {} µs", exit.value),
            None => format!("deepest idle state with {} µs of exit latency", exit.value),
        }),
    ];
    parts.into_iter().flatten().collect()
}

fn tree(page: &mut Page, inspection: &Inspection) {
    let all = lines(inspection);
    if all.is_empty() {
        return;
    }
    page.heading("Attachment");
    for line in all {
        let step = 2 * line.depth.min(page.width / 8);
        let first = if line.depth == 0 {
            String::new()
        } else {
            format!("{}└ ", " ".repeat(step.saturating_sub(2)))
        };
        let rest = " ".repeat(step + 2);
        let text = format!("{} · {}", line.name, line.detail);
        let mut wrapped = wrap(&text, page.width, &first, &rest);
        let named = format!("{first}{}", line.name);
        if let Some(tail) = wrapped.first().and_then(|l| l.strip_prefix(named.as_str())) {
            wrapped[0] = format!("{first}{}{tail}", page.paint(&line.name, BOLD));
        }
        page.lines.append(&mut wrapped);
    }
}

/// Values of a disk with the file each was read from.
fn table(page: &mut Page, of: &str, disk: &Device, all: &[(&str, String, String)]) {
    if all.is_empty() {
        return;
    }
    let origins: Vec<&str> = all.iter().map(|(_, _, from)| from.as_str()).collect();
    let folder = common_folder(&origins);
    page.heading(&format!("{of} of {}", clean(&disk.name)));
    if !folder.is_empty() {
        page.text(&format!("in {folder}"), "", "  ", DIM);
    }
    let names = all.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let lengths = all.iter().map(|(_, value, _)| value.chars().count());
    // One long value does not push the others' origins off the page.
    let values = lengths.filter(|length| *length <= page.width / 3).max().unwrap_or(0);
    for (name, value, from) in all {
        let from = &from[folder.len()..];
        let text = format!("{name:<names$}  {value:<values$}  ");
        if text.chars().count() + from.chars().count() <= page.width {
            let from = page.paint(from, DIM);
            page.lines.push(format!("{text}{from}"));
        } else {
            page.text(&format!("{name}: {value} ({from})"), "", "  ", Paint::new());
        }
    }
}

/// The folder, with its last slash, that all paths begin with; empty if they share none worth
/// leaving out.
fn common_folder<'a>(paths: &[&'a str]) -> &'a str {
    let Some(first) = paths.first() else { return "" };
    let mut end = first.rfind('/').map_or(0, |i| i + 1);
    while end > 1 && !paths.iter().all(|p| p.starts_with(&first[..end])) {
        end = first[..end - 1].rfind('/').map_or(0, |i| i + 1);
    }
    if end > 1 && paths.len() > 1 { &first[..end] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_folder_ends_at_a_slash_all_paths_share() {
        assert_eq!(common_folder(&["/sys/a/queue/x", "/sys/a/device/y"]), "/sys/a/");
        assert_eq!(common_folder(&["/sys/ab", "/sys/ac"]), "/sys/");
        assert_eq!(common_folder(&["/sys/ab", "/proc/ac"]), "");
        assert_eq!(common_folder(&["/sys/ab", "ioctl"]), "");
        assert_eq!(common_folder(&["/sys/ab"]), "");
        assert_eq!(common_folder(&[]), "");
    }
}

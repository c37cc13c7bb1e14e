//! What the usual tools printed of a disk, as pairs of a fact's name and its value.
//!
//! A parser gives a pair only for a line that is there; how many it gives of each machine is
//! counted by the test, so that one that reads nothing is noticed.

use serde_json::Value;

/// A fact's name and what the tool says of it, in the words that `ours` uses too.
pub type Said = Vec<(&'static str, String)>;

/// The output of one command in `tools.txt`, without its prompt.
fn output<'t>(tools: &'t str, command: &str) -> &'t str {
    let prompt = format!("$ {command}");
    let starts = tools.match_indices(&prompt).find(|(at, _)| {
        let rest = &tools[at + prompt.len()..];
        (*at == 0 || tools[..*at].ends_with('\n')) && rest.starts_with([' ', '\n'])
    });
    let Some((at, _)) = starts else { return "" };
    let rest = &tools[at + prompt.len()..];
    rest.split("\n$ ").next().unwrap_or(rest)
}

/// What stands behind `label` on the first line that begins with it.
fn after<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.lines().find_map(|line| Some(line.trim().strip_prefix(label)?.trim()))
}

/// The same, up to the next comma or the end.
fn item<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let at = text.find(label)? + label.len();
    Some(text[at..].split([',', '\n']).next().unwrap_or_default().trim())
}

fn add(said: &mut Said, fact: &'static str, value: Option<impl ToString>) {
    said.extend(value.map(|v| (fact, v.to_string().trim().to_owned())));
}

/// The number a text begins with; commas group its digits.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
    text[..end].replace(',', "").parse().ok()
}

/// The mode marked with a star: `udma5`, `mdma2`.
fn starred(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| word.strip_prefix('*')).filter(|w| w.contains("dma"))
}

/// `hdparm DEV`: what the kernel answers to ioctls.
pub fn hdparm(tools: &str) -> Said {
    let text = output(tools, "hdparm /dev");
    let text = if text.is_empty() { first_hdparm(tools) } else { text };
    let value = |label: &str| number(after(text, label)?.trim_start_matches(['=', ' ']));
    let mut said = Said::new();
    add(&mut said, "multiple", value("multcount"));
    add(&mut said, "read-only", value("readonly").map(|n| n != 0));
    add(&mut said, "read-ahead KiB", value("readahead").map(|sectors| sectors / 2));
    let sectors = item(text, "sectors = ").and_then(number);
    add(&mut said, "size", sectors.map(|n| n * 512));
    said
}

fn first_hdparm(tools: &str) -> &str {
    let rest = tools.split("\n$ ").next().unwrap_or(tools);
    rest.strip_prefix("$ hdparm /dev/").unwrap_or_default()
}

/// `hdparm -i DEV`: what libata read at probe.
pub fn hdparm_i(tools: &str) -> Said {
    let text = output(tools, "hdparm -i");
    let mut said = Said::new();
    add(&mut said, "model", item(text, "Model="));
    add(&mut said, "firmware", item(text, "FwRev="));
    add(&mut said, "serial", item(text, "SerialNo="));
    add(&mut said, "most multiple", item(text, "MaxMultSect="));
    add(&mut said, "multiple", item(text, " MultSect="));
    let sectors = item(text, "LBAsects=").and_then(number);
    add(&mut said, "size", sectors.map(|n| n * 512));
    add(&mut said, "transfer mode", starred(text));
    add(&mut said, "write cache", item(text, "WriteCache="));
    said
}

/// `hdparm -I DEV`: what the drive says of itself now.
pub fn hdparm_identify(tools: &str) -> Said {
    let text = output(tools, "hdparm -I");
    let mut said = Said::new();
    add(&mut said, "model", after(text, "Model Number:"));
    add(&mut said, "serial", after(text, "Serial Number:"));
    add(&mut said, "firmware", after(text, "Firmware Revision:"));
    let sectors = after(text, "LBA48  user addressable sectors:").and_then(number);
    add(&mut said, "size", sectors.map(|n| n * 512));
    let mega = after(text, "device size with M = 1024*1024:").and_then(number);
    add(&mut said, "size MiB", mega);
    let both = after(text, "Logical/Physical Sector size:").and_then(number);
    let logical = after(text, "Logical  Sector size:").and_then(number);
    let physical = after(text, "Physical Sector size:").and_then(number);
    add(&mut said, "logical sector", logical.or(both));
    add(&mut said, "physical sector", physical.or(both));
    if text.contains("Model Number:") {
        // The line is only there where commands are queued.
        let depth = after(text, "Queue depth:").and_then(number).unwrap_or(0);
        add(&mut said, "NCQ depth", Some(depth));
        add(&mut said, "NCQ", Some(text.contains("Native Command Queueing (NCQ)")));
    }
    let feature = |name: &str| {
        let line = text.lines().find(|l| l.trim_start_matches(['\t', ' ', '*']) == name)?;
        Some(if line.contains('*') { "enabled" } else { "disabled" })
    };
    add(&mut said, "write cache", feature("Write cache"));
    add(&mut said, "SMART", feature("SMART feature set"));
    add(&mut said, "most multiple", item(text, "R/W multiple sector transfer: Max =").map(first));
    add(&mut said, "multiple", item(text, "\tCurrent =").map(first));
    add(&mut said, "transfer mode", starred_in_dma(text));
    said
}

fn first(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn starred_in_dma(text: &str) -> Option<&str> {
    starred(text.lines().find(|line| line.trim().starts_with("DMA:"))?)
}

/// `smartctl -x DEV`, of ATA, SCSI and NVMe.
pub fn smartctl(tools: &str) -> Said {
    let text = output(tools, "smartctl -x");
    let any = |labels: [&str; 3]| labels.into_iter().find_map(|label| after(text, label));
    let mut said = Said::new();
    add(&mut said, "model", any(["Device Model:", "Product:", "Model Number:"]));
    add(&mut said, "serial", any(["Serial Number:", "Serial number:", "Unit serial number:"]));
    add(&mut said, "firmware", any(["Firmware Version:", "Revision:", "Firmware revision:"]));
    add(&mut said, "vendor", after(text, "Vendor:"));
    let size = any(["User Capacity:", "Namespace 1 Size/Capacity:", "Total NVM Capacity:"]);
    add(&mut said, "size", size.and_then(number));
    let both = after(text, "Sector Size:").and_then(number);
    let logical = any(["Logical block size:", "Namespace 1 Formatted LBA Size:", "Sector Sizes:"]);
    add(&mut said, "logical sector", logical.and_then(number).or(both));
    add(&mut said, "physical sector", both);
    add(&mut said, "rotation", after(text, "Rotation Rate:"));
    add(&mut said, "link speed", item(text, "(current: ").map(|s| s.trim_end_matches(')')));
    let trim = after(text, "TRIM Command:").map(|t| t.starts_with("Available"));
    add(&mut said, "TRIM", trim);
    // Of two lines the second says whether it is on.
    let smart = text.lines().filter_map(|l| l.strip_prefix("SMART support is:")).next_back();
    add(&mut said, "SMART", smart.map(|s| s.trim().to_lowercase()));
    add(&mut said, "write cache", after(text, "Write cache is:").map(str::to_lowercase));
    let celsius = |label| after(text, label).and_then(number);
    add(&mut said, "temperature", celsius("Temperature:"));
    add(&mut said, "warning temperature", celsius("Warning  Comp. Temp. Threshold:"));
    add(&mut said, "critical temperature", celsius("Critical Comp. Temp. Threshold:"));
    let pci = |label| Some(after(text, label)?.trim_start_matches("0x"));
    add(&mut said, "PCI vendor", pci("PCI Vendor ID:"));
    let bridge = text.split_once("Unknown USB bridge [").and_then(|(_, t)| t.split(' ').next());
    add(&mut said, "USB id", bridge.map(|id| id.replace("0x", "")));
    said
}

/// `sg_inq`, `sg_vpd -p bdc` and `sg_modes`: what a SCSI disk, or a translator, answers.
pub fn sg(tools: &str) -> Said {
    let mut said = Said::new();
    let text = output(tools, "sg_inq");
    let any = |labels: [&str; 2]| labels.into_iter().find_map(|label| after(text, label));
    add(&mut said, "vendor", after(text, "Vendor identification:"));
    add(&mut said, "model", any(["Product identification:", "Model number:"]));
    add(&mut said, "firmware", any(["Product revision level:", "Firmware revision:"]));
    add(&mut said, "serial", any(["Unit serial number:", "Serial number:"]));
    let blocks = after(text, "Namespace size/capacity:").and_then(number);
    add(&mut said, "size", blocks.map(|n| n * 512));
    let text = output(tools, "sg_vpd -p bdc");
    let silent = text.contains("Medium rotation rate is not reported");
    let rate = after(text, "Nominal rotation rate:").map(str::to_owned);
    add(&mut said, "rotation", rate.or_else(|| silent.then(|| "not reported".to_owned())));
    let text = output(tools, "sg_modes");
    let caching = text.split_once(">> Caching").and_then(|(_, t)| after(t, "00     08"));
    let flags = caching.and_then(|hex| u8::from_str_radix(hex.split_whitespace().nth(1)?, 16).ok());
    add(&mut said, "write cache", flags.map(|f| if f & 4 != 0 { "enabled" } else { "disabled" }));
    let protected = item(text, "WP=").map(|flag| flag != "0");
    add(&mut said, "read-only", protected);
    said
}

/// `lsblk -O -J`: the first disk. What has no value is `null`.
pub fn lsblk(tools: &str) -> Said {
    let text = output(tools, "lsblk -O -J");
    let json = text.rsplit_once("rc=").map_or(text, |(json, _)| json);
    let all: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("lsblk: {e}"));
    let disk = &all["blockdevices"][0];
    [
        ("name", "kname"),
        ("number", "maj:min"),
        ("model", "model"),
        ("serial", "serial"),
        ("firmware", "rev"),
        ("vendor", "vendor"),
        ("WWN", "wwn"),
        ("rounded size", "size"),
        ("logical sector", "log-sec"),
        ("physical sector", "phy-sec"),
        ("least request", "min-io"),
        ("best request", "opt-io"),
        ("alignment", "alignment"),
        ("rotational", "rota"),
        ("read-only", "ro"),
        ("scheduler", "sched"),
        ("requests", "rq-size"),
        ("read-ahead KiB", "ra"),
        ("transport", "tran"),
        ("SCSI address", "hctl"),
        ("state", "state"),
        ("zoned", "zoned"),
        ("rounded discard", "disc-max"),
    ]
    .into_iter()
    .map(|(fact, key)| {
        let value = &disk[key];
        let text = value.as_str().map_or_else(|| value.to_string(), |t| t.trim().to_owned());
        (fact, text)
    })
    .collect()
}

/// `lsscsi -Lv`: address, type, vendor, model and revision between tabs.
pub fn lsscsi(tools: &str) -> Said {
    let line = output(tools, "lsscsi -Lv").lines().find(|line| line.starts_with('['));
    let cells: Vec<&str> = line.map_or(Vec::new(), |line| line.split('\t').collect());
    let names = ["SCSI address", "", "vendor", "model", "firmware"];
    let pairs = names.into_iter().zip(cells).filter(|(name, _)| !name.is_empty());
    pairs.map(|(name, cell)| (name, cell.trim_matches(['[', ']']).to_owned())).collect()
}

/// `lspci -vvnnk`: the function at `address`.
pub fn lspci(listing: &str, address: &str) -> Said {
    let short = address.trim_start_matches("0000:");
    let block = listing.split("\n\n").find_map(|block| {
        let at = block.lines().position(|line| line.starts_with(short))?;
        Some(block.lines().skip(at).collect::<Vec<_>>().join("\n"))
    });
    let Some(block) = block else { return Said::new() };
    let head = block.lines().next().unwrap_or_default();
    // The class is the first bracket of four digits, the identifier the last pair before the rest.
    let class = head.split_once('[').map(|(_, t)| &t[..4]).unwrap_or_default();
    let interface = head.split_once("(prog-if ").map_or("00", |(_, t)| &t[..2]);
    let pair = |line: &str| line.rsplit_once(':').map(|(a, b)| format!("{}:{}", tail(a), &b[..4]));
    let named = head.split(" (rev").next().unwrap_or(head);
    let named = named.split(" (prog-if").next().unwrap_or(named);
    let mut said = Said::new();
    add(&mut said, "PCI class", Some(format!("{class}{interface}")));
    add(&mut said, "PCI id", pair(named));
    add(&mut said, "PCI subsystem", after(&block, "Subsystem:").and_then(pair));
    add(&mut said, "driver in use", after(&block, "Kernel driver in use:"));
    let message = |name: &str| block.contains(&format!("{name}: Enable+"));
    let kind = match (message("MSI-X"), message("MSI"), block.contains("Interrupt: pin")) {
        (true, ..) => "msix",
        (_, true, _) => "msi",
        (.., true) => "intx",
        _ => "none",
    };
    add(&mut said, "interrupt", Some(kind));
    if kind == "msi" {
        add(&mut said, "MSI vectors", item(&block, "Enable+ Count=").and_then(number));
    }
    for (fact, label) in [("PCIe link", "LnkSta:"), ("most PCIe link", "LnkCap:")] {
        let line = after(&block, label);
        let part = |name: &str| line.and_then(|l| item(l, name));
        let link = part("Speed ").zip(part("Width "));
        // Behind the speed newer versions say whether it is lowered.
        add(&mut said, fact, link.map(|(s, w)| format!("{} {}", first(s), first(w))));
    }
    said
}

fn tail(text: &str) -> &str {
    &text[text.len().saturating_sub(4)..]
}

/// `nvme list -v`, `id-ctrl`, `id-ns` and `get-feature`.
pub fn nvme(tools: &str) -> Said {
    let mut said = Said::new();
    let list = output(tools, "nvme list -v");
    let row = list.lines().find(|line| line.starts_with("nvme0 "));
    let cells: Vec<&str> = row.map_or(Vec::new(), |row| row.split("  ").collect());
    let cells: Vec<&str> = cells.into_iter().map(str::trim).filter(|c| !c.is_empty()).collect();
    if let [name, serial, model, firmware, rest, ..] = cells[..] {
        let place: Vec<&str> = rest.split_whitespace().collect();
        add(&mut said, "controller", Some(name));
        add(&mut said, "serial", Some(serial));
        add(&mut said, "model", Some(model));
        add(&mut said, "firmware", Some(firmware));
        add(&mut said, "fabric", place.first());
        add(&mut said, "PCI address", place.get(1));
    }
    let text = output(tools, "nvme id-ctrl");
    let field = |name: &str| Some(after(text, name)?.trim_start_matches([':', ' ']));
    for (fact, name) in [("model", "mn "), ("serial", "sn "), ("firmware", "fr ")] {
        add(&mut said, fact, field(name));
    }
    let kelvin = |name: &str| field(name).and_then(number).map(|k| k - 273);
    add(&mut said, "warning temperature", kelvin("wctemp "));
    add(&mut said, "critical temperature", kelvin("cctemp "));
    let cache = item(tools, "Volatile Write Cache Enable (WCE):").map(str::to_lowercase);
    add(&mut said, "write cache", cache);
    let queues = item(tools, "Number of IO Completion Queues Allocated (NCQA):");
    add(&mut said, "I/O queues", queues);
    let used = tools.lines().find(|l| l.starts_with("LBA Format") && l.contains("(in use)"));
    let block = used.and_then(|line| item(line, "Data Size: ")).and_then(number);
    let blocks = after(tools, "nsze").map(|v| v.trim_start_matches([':', ' ', '0', 'x']));
    let blocks = blocks.and_then(|hex| u64::from_str_radix(hex, 16).ok());
    add(&mut said, "logical sector", block);
    add(&mut said, "size", blocks.zip(block).map(|(n, size)| n * size));
    said
}

/// The kernel's own words when it found the disk.
pub fn dmesg(log: &str) -> Said {
    let mut said = Said::new();
    let up = log.split_once("SATA link up ").map(|(_, t)| t);
    let speed = up.and_then(|t| t.split(" (").next());
    add(&mut said, "link speed", speed);
    let mode = log.split_once(": configured for ").and_then(|(_, t)| t.lines().next());
    add(&mut said, "configured for", mode);
    let disk = log.split_once("-byte logical blocks: (").map(|(before, _)| before);
    let counts = disk.and_then(|t| t.rsplit_once("] ")).map(|(_, t)| t);
    let size = counts.and_then(|t| t.split_once(' ')).and_then(|(n, b)| Some((n, number(b)?)));
    add(&mut said, "size", size.and_then(|(n, block)| Some(number(n)? * block)));
    said
}

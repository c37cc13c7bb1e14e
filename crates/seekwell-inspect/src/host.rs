//! The machine: kernel, CPU, memory, and whether it is a virtual machine or a container.

mod limits;

use crate::inspection::Host;
use crate::model::Fact;
use crate::reader::{Need, Reader, clean, show};
use seekwell_sys::{cpu_list, meminfo_bytes};
use std::path::Path;

pub(crate) fn read(r: &mut Reader<'_>) -> Host {
    let cpuinfo = cpu_info(r);
    let (memory_bytes, memory_available_bytes) = memory(r);
    Host {
        name: r.text(Path::new("/proc/sys/kernel/hostname"), "host name", Need::Optional),
        kernel: kernel(r),
        cpu_model: cpuinfo.as_deref().and_then(cpu_model),
        cpus: cpus(r, cpuinfo.as_deref()),
        allowed_cpus: allowed_cpus(r),
        mitigations: mitigations(r),
        memory_bytes,
        memory_available_bytes,
        virtualization: virtualization(r, cpuinfo.as_deref()),
        container: container(r),
        io_limits: limits::read(r),
        vm: crate::facts::read_vm(r),
        power: crate::facts::read_power(r),
    }
}

const CPUINFO: &str = "/proc/cpuinfo";
const ONLINE: &str = "/sys/devices/system/cpu/online";

fn cpu_info(r: &mut Reader<'_>) -> Option<String> {
    r.view.text(Path::new(CPUINFO)).map_err(|e| r.miss_error("CPU", &e, Need::Always)).ok()
}

fn kernel(r: &mut Reader<'_>) -> Option<Fact<String>> {
    let path = Path::new("/proc/sys/kernel/osrelease");
    let version = Path::new("/proc/version");
    if r.view.text(path).is_err()
        && let Some(text) = r.hint(version)
    {
        // Linux version 6.1.0-56-amd64 (…
        let release = text.strip_prefix("Linux version ")?.split_whitespace().next()?.to_owned();
        return Some(Fact::new(release, show(version)));
    }
    r.text(path, "kernel release", Need::Always)
}

/// The values of a field of a table of `name : value` lines.
fn fields<'t>(text: &'t str, field: &'t str) -> impl Iterator<Item = &'t str> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter(move |(name, _)| name.trim() == field).map(|(_, value)| value.trim())
}

fn cpu_model(text: &str) -> Option<Fact<String>> {
    let names = ["model name", "cpu model", "Model", "cpu"];
    let found = names.iter().find_map(|name| fields(text, name).find(|v| !v.is_empty()))?;
    Some(Fact::new(clean(found), CPUINFO))
}

fn cpus(r: &mut Reader<'_>, cpuinfo: Option<&str>) -> Option<Fact<u64>> {
    let path = Path::new(ONLINE);
    if let Some(online) = r.hint(path).as_deref().and_then(cpu_list) {
        return Some(Fact::new(online.len() as u64, ONLINE));
    }
    let count = fields(cpuinfo?, "processor").count() as u64;
    (count > 0).then(|| Fact::new(count, CPUINFO))
}

/// The list of CPUs that this process may run on, unless it has them all (proc(5)).
fn allowed_cpus(r: &Reader<'_>) -> Option<Fact<String>> {
    let status = Path::new("/proc/self/status");
    let text = r.view.text(status).ok()?;
    let list = fields(&text, "Cpus_allowed_list").next()?;
    let online = cpu_list(&r.hint(Path::new(ONLINE))?)?;
    let is_bound = !online.is_subset(&cpu_list(list)?);
    is_bound.then(|| Fact::new(list.to_owned(), show(status)))
}

/// Vulnerabilities whose mitigations work at each entry into the kernel or exit from it
/// (Documentation/admin-guide/hw-vuln of the kernel).
const AT_EACH_ENTRY: [&str; 8] = [
    "indirect_target_selection",
    "mds",
    "meltdown",
    "mmio_stale_data",
    "retbleed",
    "spec_rstack_overflow",
    "spectre_v2",
    "tsx_async_abort",
];

/// The mitigations in effect. A CPU that is `Not affected` or `Vulnerable` has none.
fn mitigations(r: &Reader<'_>) -> Vec<Fact<String>> {
    let folder = Path::new("/sys/devices/system/cpu/vulnerabilities");
    let one = |name: &&str| {
        let path = folder.join(name);
        let state = r.hint(&path)?;
        let how = state.strip_prefix("Mitigation: ")?.split([';', ',']).next()?.trim();
        Some(Fact::new(format!("{name}: {how}"), show(&path)))
    };
    AT_EACH_ENTRY.iter().filter_map(one).collect()
}

fn memory(r: &mut Reader<'_>) -> (Option<Fact<u64>>, Option<Fact<u64>>) {
    let path = Path::new("/proc/meminfo");
    let text = match r.view.text(path) {
        Ok(text) => text,
        Err(error) => {
            r.miss_error("memory", &error, Need::Always);
            return (None, None);
        }
    };
    let bytes = |name: &str| Some(Fact::new(meminfo_bytes(&text, name)?, show(path)));
    (bytes("MemTotal"), bytes("MemAvailable"))
}

fn virtualization(r: &Reader<'_>, cpuinfo: Option<&str>) -> Option<Fact<String>> {
    let fact = |name: &str, path: &Path| Some(Fact::new(name.to_owned(), show(path)));
    let release = Path::new("/proc/sys/kernel/osrelease");
    if r.hint(release).is_some_and(|k| k.to_lowercase().contains("microsoft")) {
        return fact("wsl", release);
    }
    let xen = Path::new("/sys/hypervisor/type");
    let dom0 = r.hint(Path::new("/proc/xen/capabilities")).is_some_and(|c| c.contains("control_d"));
    if !dom0 && let Some(kind) = r.hint(xen) {
        return fact(&kind, xen);
    }
    let clock = Path::new("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let kvm = r.hint(clock).is_some_and(|c| c.contains("kvm-clock"));
    for name in ["product_name", "sys_vendor", "board_vendor", "bios_vendor"] {
        let path = Path::new("/sys/class/dmi/id").join(name);
        match r.hint(&path).as_deref().and_then(vendor) {
            Some("qemu") if kvm => return fact("kvm", clock),
            Some(found) => return fact(found, &path),
            None => {}
        }
    }
    if !cpuinfo.is_some_and(|t| fields(t, "flags").any(|f| f.split(' ').any(|w| w == "hypervisor")))
    {
        return None;
    }
    let table = Path::new("/sys/firmware/acpi/tables/FACP");
    if let Some(found) = r.view.read(table).ok().as_deref().and_then(acpi_maker) {
        return fact(found, table);
    }
    if kvm {
        return fact("kvm", clock);
    }
    fact("unknown hypervisor", Path::new(CPUINFO))
}

/// The hypervisor whose firmware calls itself this. Vendors that also build hardware are not here.
fn vendor(text: &str) -> Option<&'static str> {
    let names = [
        ("QEMU", "qemu"),
        ("Standard PC", "qemu"),
        ("KVM", "kvm"),
        ("OpenStack", "kvm"),
        ("VMware", "vmware"),
        ("innotek", "virtualbox"),
        ("VirtualBox", "virtualbox"),
        ("Virtual Machine", "hyper-v"),
        ("Xen", "xen"),
        ("HVM domU", "xen"),
        ("Parallels", "parallels"),
        ("BHYVE", "bhyve"),
        ("Google Compute Engine", "google compute engine"),
        ("Droplet", "kvm"),
        ("Apple Virtualization", "apple virtualization"),
        ("Cloud Hypervisor", "cloud-hypervisor"),
        ("Firecracker", "firecracker"),
    ];
    names.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| *name)
}

/// The maker of an ACPI table (bytes 10 to 15), if it is a hypervisor. Root only.
fn acpi_maker(table: &[u8]) -> Option<&'static str> {
    match table.get(10..16)? {
        b"FIRECK" => Some("firecracker"),
        b"CLOUDH" => Some("cloud-hypervisor"),
        b"BOCHS " => Some("qemu"),
        b"VRTUAL" => Some("hyper-v"),
        b"VBOX  " => Some("virtualbox"),
        _ => None,
    }
}

fn container(r: &Reader<'_>) -> Option<Fact<String>> {
    let fact = |name: &str, path: &Path| Some(Fact::new(name.to_owned(), show(path)));
    let podman = Path::new("/run/.containerenv");
    if r.view.exists(podman) {
        return fact("podman", podman);
    }
    for path in ["/run/systemd/container", "/run/host/container-manager"].map(Path::new) {
        if let Some(name) = r.hint(path) {
            return fact(&name, path);
        }
    }
    let environ = Path::new("/proc/1/environ");
    if let Ok(text) = r.view.text(environ) {
        let name = text.split('\0').find_map(|v| v.strip_prefix("container="));
        if let Some(name) = name.map(clean).filter(|n| !n.is_empty()) {
            return fact(&name, environ);
        }
    }
    let cgroup = Path::new("/proc/self/cgroup");
    if let Some(name) = r.view.text(cgroup).ok().as_deref().and_then(cgroup_maker) {
        return fact(name, cgroup);
    }
    // The file also stays behind in a virtual machine's disk made from a container's image; there
    // the program is in the kernel's first namespaces, whose numbers are fixed.
    let docker = Path::new("/.dockerenv");
    (r.view.exists(docker) && !first_namespaces(r)).then(|| fact("docker", docker)).flatten()
}

/// Whether this process is in the process and host-name namespaces the kernel started with
/// (`PROC_PID_INIT_INO`, `PROC_UTS_INIT_INO` in `include/linux/proc_ns.h`).
fn first_namespaces(r: &Reader<'_>) -> bool {
    let is = |name: &str, first: &str| {
        let path = Path::new("/proc/self/ns").join(name);
        r.view.link(&path).is_ok_and(|to| to.to_str() == Some(first))
    };
    is("pid", "pid:[4026531836]") && is("uts", "uts:[4026531838]")
}

fn cgroup_maker(text: &str) -> Option<&'static str> {
    let makers = [
        ("/kubepods", "kubernetes"),
        ("/docker/", "docker"),
        ("/docker-", "docker"),
        ("/libpod", "podman"),
        ("/lxc.payload", "lxc"),
        ("/lxc/", "lxc"),
        ("/containerd/", "containerd"),
        ("/machine.slice/systemd-nspawn", "systemd-nspawn"),
    ];
    makers.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    fn host(fake: &Fake) -> Host {
        read(&mut Reader::new(fake))
    }

    #[test]
    fn the_machine_is_read_from_proc() {
        let fake = Fake::new()
            .file("/proc/sys/kernel/osrelease", "6.1.0\n")
            .file(CPUINFO, "processor\t: 0\nmodel name\t: Some CPU\n\nprocessor\t: 1\n")
            .file("/proc/meminfo", "MemTotal:   2048 kB\nMemAvailable: 1024 kB\n");
        let host = host(&fake);
        assert_eq!(host.kernel.unwrap().value, "6.1.0");
        assert_eq!(host.cpu_model.unwrap().value, "Some CPU");
        assert_eq!(host.cpus.unwrap().value, 2);
        assert_eq!(host.memory_bytes.unwrap().value, 2048 * 1024);
        assert_eq!(host.memory_available_bytes.unwrap().value, 1024 * 1024);
        assert_eq!(host.virtualization, None);
        assert_eq!(host.container, None);
    }

    #[test]
    fn the_cpus_that_this_process_may_use_are_told_where_some_are_missing() {
        let allowed = |list: &str| {
            let fake = Fake::new()
                .file(ONLINE, "0-7\n")
                .file("/proc/self/status", format!("Name:\tx\nCpus_allowed_list:\t{list}\n"));
            host(&fake).allowed_cpus.map(|list| list.value)
        };
        assert_eq!(allowed("0-3"), Some("0-3".into()));
        assert_eq!(allowed("0-127"), None, "those that are not there as well");
    }

    #[test]
    fn mitigations_that_cost_at_each_entry_are_told_with_how() {
        let at = "/sys/devices/system/cpu/vulnerabilities/";
        let fake = Fake::new()
            .file(format!("{at}meltdown"), "Mitigation: PTI\n")
            .file(format!("{at}mds"), "Mitigation: Clear CPU buffers; SMT vulnerable\n")
            .file(format!("{at}retbleed"), "Not affected\n")
            .file(format!("{at}spectre_v2"), "Vulnerable\n")
            .file(format!("{at}spectre_v1"), "Mitigation: usercopy barriers\n");
        let told: Vec<_> = host(&fake).mitigations.into_iter().map(|m| m.value).collect();
        assert_eq!(told, ["mds: Clear CPU buffers", "meltdown: PTI"]);
    }

    #[test]
    fn hypervisors_are_named_by_what_tells_them() {
        let flagged = || Fake::new().file(CPUINFO, "flags\t: fpu hypervisor lm\n");
        let kind = |fake: &Fake| host(fake).virtualization.unwrap().value;
        assert_eq!(kind(&flagged()), "unknown hypervisor");
        let clock = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        assert_eq!(kind(&flagged().file(clock, "kvm-clock tsc")), "kvm");
        let table = b"FACP\x14\x01\0\0\x06\0FIRECKFCVMFADT".to_vec();
        let fire = flagged().bytes("/sys/firmware/acpi/tables/FACP", table);
        assert_eq!(kind(&fire), "firecracker");
        let dmi = "/sys/class/dmi/id/";
        let vmware = Fake::new().file(format!("{dmi}sys_vendor"), "VMware, Inc.");
        assert_eq!(kind(&vmware), "vmware");
        let azure = Fake::new().file(format!("{dmi}product_name"), "Virtual Machine");
        assert_eq!(kind(&azure), "hyper-v");
        let laptop = Fake::new().file(format!("{dmi}sys_vendor"), "LENOVO");
        assert_eq!(host(&laptop).virtualization, None);
        let dom0 = Fake::new()
            .file("/sys/hypervisor/type", "xen")
            .file("/proc/xen/capabilities", "control_d\n");
        assert_eq!(host(&dom0).virtualization, None);
    }

    #[test]
    fn a_virtual_machine_made_from_a_container_image_is_no_container() {
        // A microVM's root disk had been exported from an image; its /.dockerenv made the report
        // call the machine a Docker container.
        let left = Fake::new().file("/.dockerenv", "");
        assert_eq!(host(&left).container.unwrap().value, "docker");
        let vm = left
            .symlink("/proc/self/ns/pid", "pid:[4026531836]")
            .symlink("/proc/self/ns/uts", "uts:[4026531838]");
        assert_eq!(host(&vm).container, None);
    }

    #[test]
    fn container_runtimes_are_named() {
        let name = |fake: Fake| host(&fake).container.unwrap().value;
        assert_eq!(name(Fake::new().file("/run/.containerenv", "engine=\"podman\"")), "podman");
        assert_eq!(name(Fake::new().file("/proc/1/environ", "A=1\0container=lxc\0B=2")), "lxc");
        let cgroup = "0::/kubepods.slice/kubepods-pod1.slice\n";
        assert_eq!(name(Fake::new().file("/proc/self/cgroup", cgroup)), "kubernetes");
        let refused = Fake::new().denied("/proc/1/environ");
        let mut r = Reader::new(&refused);
        assert_eq!(read(&mut r).container, None);
        assert!(r.into_missing().iter().all(|m| m.from != "/proc/1/environ"));
    }
}

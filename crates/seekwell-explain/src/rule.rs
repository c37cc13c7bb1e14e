//! A rule, its page of documentation and what it found.

use crate::found::Found;
use crate::observed::Observed;
use seekwell_inspect::facts::{
    AtaFacts, BcacheFacts, DrbdState, IdentifyData, MapperTarget, MdFacts, MmcFacts, NvmeFacts,
    ScsiFacts, UsbFacts, ZfsFacts,
};
use seekwell_inspect::health::Health;
use seekwell_inspect::{Device, Fact, Finding};

#[derive(Clone, Copy)]
pub struct Rule {
    /// The identifier of its findings, never changed: `SW-LINK-001`.
    pub id: &'static str,
    /// What it looks for, in a few words.
    pub about: &'static str,
    pub means: &'static str,
    /// How it is known: which facts, which threshold, which traps were avoided.
    pub known: &'static str,
    /// Why it matters, with a measured or published figure if there is one.
    pub why: &'static str,
    pub fix: &'static str,
    /// What this program's `tune` can change about it.
    pub tune: Option<&'static str>,
    pub(crate) check: Check,
}

/// How a rule looks, which also says what it needs.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// At facts and the kernel log: any number of findings.
    Facts(fn(&Observed<'_>) -> Vec<Found>),
    /// At facts: one finding of the whole machine.
    Host(fn(&Observed<'_>) -> Option<Found>),
    /// At a run, and the facts beside it: one finding of all its phases.
    Run(fn(&Observed<'_>) -> Option<Found>),
    /// At each device.
    Device(fn(&Observed<'_>, &Device) -> Option<Found>),
    Ata(fn(&Observed<'_>, &Device, &AtaFacts) -> Option<Found>),
    /// At each drive with IDENTIFY data, wherever it is attached.
    Drive(fn(&Observed<'_>, &Device, &Fact<IdentifyData>) -> Option<Found>),
    Scsi(fn(&Observed<'_>, &Device, &ScsiFacts) -> Option<Found>),
    Nvme(fn(&Observed<'_>, &Device, &NvmeFacts) -> Option<Found>),
    Usb(fn(&Observed<'_>, &Device, &UsbFacts) -> Option<Found>),
    Md(fn(&Observed<'_>, &Device, &MdFacts) -> Option<Found>),
    /// At each target of a device-mapper device; one finding of the device.
    Mapped(fn(&Device, &Fact<MapperTarget>) -> Option<Found>),
    Bcache(fn(&Device, &BcacheFacts) -> Option<Found>),
    Drbd(fn(&Fact<DrbdState>) -> Option<Found>),
    Zfs(fn(&Observed<'_>, &ZfsFacts) -> Option<Found>),
    Mmc(fn(&Observed<'_>, &Device, &MmcFacts) -> Option<Found>),
    /// At each drive that reported its health.
    Health(fn(&Observed<'_>, &Device, &Health) -> Option<Found>),
}

impl Check {
    fn found(self, input: &Observed<'_>) -> Vec<Found> {
        if let Self::Run(find) = self {
            return input.phases.and_then(|_| find(input)).into_iter().collect();
        }
        if !input.has_facts() {
            return Vec::new();
        }
        match self {
            Self::Facts(find) => find(input),
            Self::Host(find) => find(input).into_iter().collect(),
            _ => input.each(|d| Some(self.look_at(input, d)?.of(&d.name))),
        }
    }

    /// What there is to say of one device.
    fn look_at(self, input: &Observed<'_>, d: &Device) -> Option<Found> {
        let detail = &d.detail;
        let is_atapi = |a: &AtaFacts| a.class.as_ref().is_some_and(|c| c.value != "ata");
        match self {
            Self::Device(find) => find(input, d),
            Self::Ata(find) => find(input, d, detail.ata.as_ref().filter(|a| !is_atapi(a))?),
            Self::Drive(find) => find(input, d, detail.identify.as_ref()?),
            Self::Scsi(find) => find(input, d, detail.scsi.as_ref()?),
            Self::Nvme(find) => find(input, d, detail.nvme.as_ref()?),
            Self::Usb(find) => find(input, d, detail.usb.as_ref()?),
            Self::Md(find) => find(input, d, detail.md.as_ref()?),
            Self::Mapped(find) => detail.mapper.as_ref()?.targets.iter().find_map(|t| find(d, t)),
            Self::Bcache(find) => find(d, detail.bcache.as_ref()?),
            Self::Drbd(find) => find(detail.drbd.as_ref()?),
            Self::Zfs(find) => find(input, detail.zfs.as_ref()?),
            Self::Mmc(find) => find(input, d, detail.mmc.as_ref()?),
            Self::Health(find) => find(input, d, detail.health.as_ref()?),
            Self::Facts(_) | Self::Host(_) | Self::Run(_) => None,
        }
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule").field("id", &self.id).field("about", &self.about).finish()
    }
}

const ON_MODEL: &str = "on the model: --set KEY=VALUE with a key that the evidence names";

impl Rule {
    pub fn findings(&self, input: &Observed<'_>) -> Vec<Finding> {
        let mut causes: Vec<Found> = Vec::new();
        for found in self.check.found(input) {
            if !causes.iter_mut().any(|cause| cause.takes(&found)) {
                causes.push(found);
            }
        }
        causes
            .into_iter()
            .map(|f| {
                debug_assert!(!f.evidence.is_empty(), "{} needs evidence", self.id);
                let mut remedy = f.remedy.unwrap_or_else(|| self.fix.to_owned());
                if input.is_model() {
                    remedy = format!("{ON_MODEL}; on a real one: {remedy}");
                }
                Finding {
                    id: self.id.to_owned(),
                    severity: f.severity,
                    title: match f.subjects.is_empty() {
                        true => f.title,
                        false => format!("{}: {}", f.subjects.join(", "), f.title),
                    },
                    evidence: f.evidence,
                    why: f.why.unwrap_or_else(|| self.why.to_owned()),
                    remedy,
                    tune: self.tune.filter(|_| !input.is_model()).map(str::to_owned),
                }
            })
            .collect()
    }

    /// Whether it looks at a run and not at facts alone.
    pub fn needs_run(&self) -> bool {
        matches!(self.check, Check::Run(_))
    }

    pub fn page(&self) -> String {
        let mut page = format!("{}: {}\n", self.id, self.about);
        let parts = [
            ("What it means", self.means),
            ("How it is known", self.known),
            ("Why it matters", &sentence(self.why)),
            ("What to do", self.fix),
            ("What tune can do", self.tune.unwrap_or("Nothing: this is not a runtime setting.")),
        ];
        for (title, text) in parts {
            page += &format!("\n{title}\n  {text}\n");
        }
        page
    }
}

/// A clause of a finding as a sentence of its own.
fn sentence(clause: &str) -> String {
    let mut rest = clause.chars();
    let first = rest.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let stop = if clause.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", rest.as_str())
}

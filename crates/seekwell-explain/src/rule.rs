//! A rule, its page of documentation and what it found.

use crate::found::Found;
use crate::observed::Observed;
use seekwell_inspect::Finding;

/// One rule with its page of documentation.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The identifier of its findings, never changed: `SW-LINK-001`.
    pub id: &'static str,
    /// What it looks for, in a few words.
    pub about: &'static str,
    pub means: &'static str,
    /// How it is known: which facts, which threshold, which traps were avoided.
    pub known: &'static str,
    /// Why it matters, with a measured or published figure where there is one.
    pub why: &'static str,
    pub fix: &'static str,
    /// What this program's `tune` can change about it.
    pub tune: Option<&'static str>,
    pub(crate) check: Check,
}

/// How a rule looks, which also says what it needs.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// At facts and the kernel log: a finding of each device.
    Facts(fn(&Observed<'_>) -> Vec<Found>),
    /// At a run, and the facts beside it: one finding of all its phases.
    Run(fn(&Observed<'_>) -> Option<Found>),
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule").field("id", &self.id).field("about", &self.about).finish()
    }
}

const ON_MODEL: &str = "on the model: --set KEY=VALUE with a key that the evidence names";

impl Rule {
    pub fn findings(&self, input: &Observed<'_>) -> Vec<Finding> {
        let found = match self.check {
            Check::Facts(find) if input.has_facts() => find(input),
            Check::Run(find) if input.phases.is_some() => find(input).into_iter().collect(),
            Check::Facts(_) | Check::Run(_) => Vec::new(),
        };
        found
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
                    title: f.title,
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

    /// The page of documentation as plain text.
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

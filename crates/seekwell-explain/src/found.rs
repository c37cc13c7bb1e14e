//! What a rule found.

use seekwell_inspect::{Evidence, Fact, Severity};
use std::fmt::Display;

/// What a rule found; the rest of the finding is the rule's.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// What it is about, by the kernel's names, which come before the title; empty of a machine.
    pub(crate) subjects: Vec<String>,
    pub(crate) severity: Severity,
    pub(crate) title: String,
    pub(crate) evidence: Vec<Evidence>,
    /// Why it matters in this case; `None` takes the rule's own words.
    pub(crate) why: Option<String>,
    /// An exact command or setting; `None` takes the rule's own words.
    pub(crate) remedy: Option<String>,
}

impl Found {
    pub(crate) fn new(severity: Severity, title: impl Into<String>) -> Self {
        let (subjects, evidence) = (Vec::new(), Vec::new());
        Self { subjects, severity, title: title.into(), evidence, why: None, remedy: None }
    }

    pub(crate) fn error(title: impl Into<String>) -> Self {
        Self::new(Severity::Error, title)
    }

    pub(crate) fn warning(title: impl Into<String>) -> Self {
        Self::new(Severity::Warning, title)
    }

    pub(crate) fn info(title: impl Into<String>) -> Self {
        Self::new(Severity::Info, title)
    }

    pub(crate) fn of(mut self, subject: impl Into<String>) -> Self {
        self.subjects.push(subject.into());
        self
    }

    /// Takes over another whose subject alone is different: it has the same cause.
    pub(crate) fn takes(&mut self, other: &Self) -> bool {
        let words = |f: &Self| (f.severity, f.title.clone(), f.why.clone(), f.remedy.clone());
        let is_same = !self.subjects.is_empty() && words(self) == words(other);
        if is_same {
            let new = |s: &&String| !self.subjects.contains(s);
            let subjects: Vec<_> = other.subjects.iter().filter(new).cloned().collect();
            self.subjects.extend(subjects);
            let new = |e: &&Evidence| !self.evidence.contains(e);
            let evidence: Vec<_> = other.evidence.iter().filter(new).cloned().collect();
            self.evidence.extend(evidence);
        }
        is_same
    }

    pub(crate) fn seen(mut self, seen: impl Into<String>, from: impl Into<String>) -> Self {
        self.evidence.push(Evidence { seen: seen.into(), from: from.into() });
        self
    }

    pub(crate) fn fact<T: Display>(self, what: &str, fact: &Fact<T>) -> Self {
        self.seen(format!("{what}: {}", fact.value), &fact.from)
    }

    pub(crate) fn facts<T: Display>(self, what: &str, fact: Option<&Fact<T>>) -> Self {
        match fact {
            Some(fact) => self.fact(what, fact),
            None => self,
        }
    }

    pub(crate) fn evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub(crate) fn why(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

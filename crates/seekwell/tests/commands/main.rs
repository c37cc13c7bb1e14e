//! Tests that run the real program. They are one program because each one links all of seekwell,
//! and because tests that wait then leave the processors to others.

#![allow(clippy::print_stderr)]

mod common;

mod alerts;
mod amplification;
mod auto;
mod beyond;
mod calibrate;
mod compare;
mod dashboard;
mod diagnose;
mod documents;
mod examples;
mod experiment;
mod export;
mod findings;
mod fit_for;
mod fleet;
mod formats;
mod jobs;
mod json_doc;
mod ledger;
mod limits;
mod machine;
mod machine_fit;
mod machine_limits;
mod machine_plan;
mod machine_serve;
mod measures;
mod outputs;
mod page;
mod pts;
mod push;
mod record;
mod record_parts;
mod refuses;
mod replay;
mod serve;
mod snapshots;
mod suites;
mod suites_on;
mod sustained;
mod together;
mod top;
mod trace;
mod trace_merge;
mod tune;

//! `seekwell machine`: descriptions of modelled hardware.

mod check;
mod fit;
mod import;
mod limits;
mod list;
mod plan;
mod serve;
mod show;
mod system;
mod validate;

use crate::Ended;
use crate::cli::machine::{Machine, MachineCommand};
use crate::context::Context;

pub fn run(args: &Machine, context: &Context) -> Ended {
    match &args.command {
        MachineCommand::List => list::run(context),
        MachineCommand::Show(args) => show::run(args, context),
        MachineCommand::Check(args) => check::run(args, context),
        MachineCommand::Import(args) => import::run(args, context),
        MachineCommand::Validate(args) => validate::run(args, context),
        MachineCommand::Serve(args) => serve::run(args, context),
        MachineCommand::Fit(args) => fit::run(args, context),
        MachineCommand::Plan(args) => plan::run(args, context),
        MachineCommand::Limits(args) => limits::run(args, context),
    }
}

//! A ledger may be any bytes. What is read is a plan that can be carried out, and as many writes as
//! whole batches.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_run::ledger::Ledger;

fuzz_target!(|text: &[u8]| {
    let Ok(ledger) = Ledger::read(text) else { return };
    let plan = ledger.plan.checked().expect("what is read can be carried out");
    assert!(ledger.acknowledged.is_multiple_of(plan.batch));
    assert!(ledger.acknowledged / plan.batch >= ledger.acknowledgements);
    let mut block = vec![0; plan.block_bytes as usize];
    plan.fill(1, &mut block);
});

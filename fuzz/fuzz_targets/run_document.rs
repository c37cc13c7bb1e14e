//! A `run.json` may be cut short, of a later version, or made to do harm. One that is accepted must
//! survive being written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_runs::read;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let path = Path::new("run.json");
    if let Ok(run) = read::run(data, path) {
        assert!(seekwell_runs::is_id(&run.id));
        let again = serde_json::to_vec(&run).expect("what was read can be written");
        assert_eq!(read::run(&again, path).expect("what was written can be read"), run);
    }
});

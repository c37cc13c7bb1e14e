//! Which jobs are reported together.

use seekwell_job::job::Job;

/// Jobs whose figures are added up, by their numbers, in their order.
pub type Group = Vec<usize>;

/// Which jobs are reported together.
pub fn groups(jobs: &[Job]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let known = groups.iter_mut().find(|group| {
            let first = &jobs[group[0]];
            job.group.reporting && first.group.reporting && first.group.number == job.group.number
        });
        match known {
            Some(group) => group.push(number),
            None => groups.push(vec![number]),
        }
    }
    groups
}

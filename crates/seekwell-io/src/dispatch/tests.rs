//! What each rule promises, under any order of arrivals and completions.

use super::*;
use proptest::prelude::*;

fn request(op: Op, offset: u64) -> Request {
    let len = if op == Op::Flush { 0 } else { 4096 };
    Request { op, offset, len, wanted: None, id: 0, durable: false, queue: 0 }
}

/// A rule and what it has let out.
struct Watched {
    rule: Box<dyn Dispatcher>,
    out: Vec<Op>,
    waiting: usize,
    now: Nanos,
}

impl Watched {
    fn over(policy: TagPolicy, tags: u32) -> Self {
        Self { rule: policy.over(tags), out: Vec::new(), waiting: 0, now: Nanos::ZERO }
    }

    fn queue(&mut self, op: Op, offset: u64) {
        self.rule.queue(request(op, offset), self.now);
        self.waiting += 1;
    }

    fn release(&mut self) -> Option<Request> {
        let request = self.rule.release(self.now)?;
        self.out.push(request.op);
        self.waiting -= 1;
        Some(request)
    }

    /// The longest outstanding is done.
    fn complete(&mut self) {
        if !self.out.is_empty() {
            self.rule.complete(self.out.remove(0));
        }
        self.now += Nanos::from_millis(1);
    }

    fn held(&self, ops: &[Op]) -> usize {
        self.out.iter().filter(|op| ops.contains(op)).count()
    }
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => Just(Op::Read),
        4 => Just(Op::Write),
        1 => Just(Op::Flush),
        1 => Just(Op::Discard),
    ]
}

proptest! {
    #[test]
    fn no_rule_lets_out_more_than_the_tags_or_keeps_anything_for_ever(
        policy in prop::sample::select(TagPolicy::ALL.to_vec()),
        tags in 1u32..40,
        steps in prop::collection::vec((any_op(), 0u64..1 << 20, 0u8..3), 1..300)
    ) {
        let mut watched = Watched::over(policy, tags);
        for (op, offset, then) in steps {
            watched.queue(op, offset * 4096);
            for _ in 0..then {
                let _ = watched.release();
                prop_assert!(watched.out.len() <= tags as usize);
            }
            if then == 2 {
                watched.complete();
            }
        }
        let mut turns = 0;
        while watched.waiting > 0 {
            while watched.release().is_some() {}
            prop_assert!(!watched.out.is_empty(), "{policy:?} holds back with every tag free");
            watched.complete();
            turns += 1;
            prop_assert!(turns < 1_000);
        }
    }

    #[test]
    fn a_split_never_gives_a_side_more_than_two_thirds_and_one(
        tags in 1u32..64,
        steps in prop::collection::vec((any_op(), any::<bool>()), 1..400)
    ) {
        let mut watched = Watched::over(TagPolicy::Split, tags);
        let limit = SplitTags::limit(tags) as usize;
        for (op, complete) in steps {
            watched.queue(op, 0);
            while watched.release().is_some() {}
            prop_assert!(watched.held(&[Op::Read]) <= limit);
            prop_assert!(watched.held(&[Op::Write, Op::Flush]) <= limit);
            prop_assert!(watched.held(&[Op::Discard]) <= 1);
            if complete {
                watched.complete();
            }
        }
    }

    #[test]
    fn under_a_steady_stream_of_reads_a_write_waits_only_so_long(
        policy in prop::sample::select(vec![
            TagPolicy::Split, TagPolicy::ReadsFirst, TagPolicy::Deadline, TagPolicy::Domains,
        ]),
        tags in 4u32..33
    ) {
        let mut watched = Watched::over(policy, tags);
        for _ in 0..tags * 2 {
            watched.queue(Op::Read, 1 << 30);
        }
        watched.queue(Op::Write, 4096);
        for turn in 0..400 {
            while let Some(request) = watched.release() {
                if request.op == Op::Write {
                    return Ok(());
                }
            }
            watched.complete();
            watched.queue(Op::Read, turn * 8192);
        }
        prop_assert!(false, "{policy:?} starves the write");
    }
}

#[test]
fn thirty_one_openings_give_each_side_twenty_one() {
    let limits = [1, 2, 4, 8, 16, 31].map(SplitTags::limit);
    assert_eq!(limits, [1, 2, 3, 6, 11, 21]);
}

#[test]
fn writes_that_came_first_take_every_tag_of_a_shared_pool_and_ten_stay_free_in_a_split() {
    for (policy, left) in [(TagPolicy::Shared, 0), (TagPolicy::Split, 10)] {
        let mut watched = Watched::over(policy, 31);
        (0..1_000).for_each(|i| watched.queue(Op::Write, i * 4096));
        while watched.release().is_some() {}
        assert_eq!(31 - watched.out.len(), left, "{policy:?}");
        watched.queue(Op::Read, 0);
        assert_eq!(watched.release().is_some(), left > 0, "{policy:?}");
    }
}

#[test]
fn five_reads_let_consecutive_writes_through_and_no_others() {
    let mut watched = Watched::over(TagPolicy::ReadsFirst, 64);
    for offset in [0, 4096, 8192, 1 << 30] {
        watched.queue(Op::Write, offset);
    }
    (0..6).for_each(|i| watched.queue(Op::Read, i << 20));
    let order: Vec<_> =
        std::iter::from_fn(|| watched.release()).map(|r| (r.op, r.offset)).collect();
    let read = |i: u64| (Op::Read, i << 20);
    let expected = [
        read(0),
        read(1),
        read(2),
        read(3),
        read(4),
        (Op::Write, 0),
        (Op::Write, 4096),
        (Op::Write, 8192),
        read(5),
        (Op::Write, 1 << 30),
    ];
    assert_eq!(order, expected);
}

#[test]
fn a_deadline_batch_goes_up_through_the_addresses_until_someone_has_waited_too_long() {
    let mut watched = Watched::over(TagPolicy::Deadline, 64);
    for offset in [7, 3, 5, 1] {
        watched.queue(Op::Read, offset << 20);
    }
    let next = |w: &mut Watched| w.release().map(|r| r.offset >> 20);
    // It begins with the oldest and goes up from there; nothing is above it, so the oldest again.
    assert_eq!(next(&mut watched), Some(7));
    assert_eq!(next(&mut watched), Some(3));
    assert_eq!(next(&mut watched), Some(5));
    assert_eq!(next(&mut watched), Some(1));
}

/// A completion that is counted twice would let one request too many at the device.
#[test]
#[cfg(debug_assertions)]
fn a_request_completed_twice_is_caught_by_every_rule() {
    for policy in TagPolicy::ALL {
        let mut rule = policy.over(4);
        rule.queue(request(Op::Read, 0), Nanos::ZERO);
        rule.release(Nanos::ZERO).unwrap();
        rule.complete(Op::Read);
        let twice = std::panic::AssertUnwindSafe(|| rule.complete(Op::Read));
        let panic = std::panic::catch_unwind(twice).expect_err("one completion too many");
        let said = panic.downcast_ref::<&str>().copied().unwrap_or_default();
        assert_eq!(said, "more requests completed than released", "{policy:?}");
    }
}

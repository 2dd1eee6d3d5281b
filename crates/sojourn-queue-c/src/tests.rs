//! The interface as C uses it; run under Miri, too: `cargo +nightly miri test -p sojourn-queue-c`.

use super::*;
use core::ffi::c_void;
use core::mem::{offset_of, size_of};
use core::ptr::{null, null_mut};
use sojourn_base::{Instant, Meta, Reason};
use sojourn_queue::{Backlog, Held, QueueContext, QueueManager};
use std::cell::RefCell;

/// Calls that callbacks received.
#[derive(Default)]
struct Told {
    dropped: RefCell<Vec<(u64, u32, u8)>>,
    marked: RefCell<Vec<(u64, u8)>>,
    kept: RefCell<Vec<(u64, i32, u8)>>,
    /// A handle that callbacks call, and what that returned.
    handle: RefCell<*mut sjq_queue>,
    answers: RefCell<Vec<i32>>,
}

/// Returns the calls to a context of [`Told::context`].
unsafe fn of<'a>(user: *mut c_void) -> &'a Told {
    // SAFETY: tests hand out pointers to their own, which outlive the calls.
    unsafe { &*user.cast::<Told>() }
}

unsafe extern "C" fn dropped(user: *mut c_void, item: u64, meta: *const sjq_meta, reason: u8) {
    // SAFETY: as the interface promises.
    let (told, meta) = unsafe { (of(user), &*meta) };
    told.dropped.borrow_mut().push((item, meta.length, reason));
    let handle = *told.handle.borrow();
    if !handle.is_null() {
        // SAFETY: the handle lives; the context is not looked at while it is busy.
        let code = unsafe { sjq_set_context(handle, &SILENT) };
        told.answers.borrow_mut().push(code);
        // SAFETY: it is refused while a call is under way.
        unsafe { sjq_free(handle) };
    }
}

unsafe extern "C" fn marked(user: *mut c_void, item: u64, meta: *const sjq_meta, _: u8) {
    // SAFETY: as the interface promises.
    let (told, meta) = unsafe { (of(user), &*meta) };
    told.marked.borrow_mut().push((item, meta.ecn));
}

unsafe extern "C" fn kept(user: *mut c_void, item: u64, queue: i32, sanctioned: u8) {
    // SAFETY: as the interface promises.
    unsafe { of(user) }.kept.borrow_mut().push((item, queue, sanctioned));
}

unsafe extern "C" fn never(_: *mut c_void, _: u64, _: *const sjq_meta, _: u8) {}

unsafe extern "C" fn always(_: *mut c_void) -> f64 {
    0.0
}

unsafe extern "C" fn nonsense(_: *mut c_void) -> f64 {
    f64::NAN
}

unsafe extern "C" fn ten_megabits(_: *mut c_void, shaper: *mut sjq_shaper) {
    // SAFETY: as the interface promises.
    unsafe { (*shaper).sustained_bps = 10_000_000 };
}

fn size() -> u32 {
    u32::try_from(size_of::<sjq_context>()).expect("a small struct")
}

/// A context without callbacks.
const SILENT: sjq_context = sjq_context {
    #[expect(clippy::cast_possible_truncation, reason = "a small struct")]
    size: size_of::<sjq_context>() as u32,
    user: null_mut(),
    dropped: Some(never),
    marked: None,
    unit: None,
    staged: None,
    loop_delay_ns: None,
    shaper: None,
    rate_bps: None,
    kept: None,
};

impl Told {
    fn context(&self) -> sjq_context {
        sjq_context {
            size: size(),
            user: (&raw const *self).cast_mut().cast(),
            dropped: Some(dropped),
            marked: Some(marked),
            unit: Some(always),
            shaper: Some(ten_megabits),
            kept: Some(kept),
            ..sjq_context::default()
        }
    }
}

fn made(line: &str) -> *mut sjq_queue {
    let mut queue = null_mut();
    // SAFETY: the line has this length, and there is a place for the handle.
    let code = unsafe { sjq_new(line.as_ptr().cast(), line.len(), 10_000_000, &raw mut queue, null_mut(), 0) };
    assert_eq!(code, SJQ_KEPT, "{line}");
    queue
}

fn refused(line: &[u8], room: usize) -> (i32, String) {
    let mut queue = null_mut();
    let mut message = vec![b'#'; room + 1];
    // SAFETY: the line has this length, the message `room`, and there is a place for the handle.
    let code =
        unsafe { sjq_new(line.as_ptr().cast(), line.len(), 0, &raw mut queue, message.as_mut_ptr().cast(), room) };
    assert!(queue.is_null());
    assert_eq!(message[room], b'#', "nothing is written beyond the room");
    let end = message.iter().position(|byte| *byte == 0).unwrap_or_default();
    (code, String::from_utf8_lossy(&message[..end]).into_owned())
}

const FULL: sjq_meta =
    sjq_meta { length: 1500, flow_hash: 1, mac_overhead: 0, dscp: 0, ecn: 0, pure_ack: 0, queue: 0, host: 0 };

fn enqueue(queue: *mut sjq_queue, now: u64, meta: sjq_meta, item: u64, context: &sjq_context) -> i32 {
    // SAFETY: all of them live.
    unsafe { sjq_enqueue(queue, now, &raw const meta, item, context) }
}

fn dequeue(queue: *mut sjq_queue, now: u64, from: i32, context: &sjq_context) -> (i32, u64, sjq_meta, u8) {
    let (mut item, mut meta, mut marked) = (0, sjq_meta::default(), 9);
    // SAFETY: all of them live.
    let code = unsafe { sjq_dequeue(queue, now, from, context, &raw mut item, &raw mut meta, &raw mut marked) };
    (code, item, meta, marked)
}

fn backlog(queue: *mut sjq_queue, of: i32) -> (u64, u64) {
    let (mut bytes, mut packets) = (7, 7);
    // SAFETY: all of them live.
    unsafe { sjq_backlog(queue, of, &raw mut bytes, &raw mut packets) };
    (bytes, packets)
}

#[test]
fn three_packets_at_a_buffer_of_two() {
    let (told, queue) = (Told::default(), made("drop-tail limit=\"2 packets\""));
    let context = told.context();
    assert_eq!(enqueue(queue, 0, FULL, 11, &context), SJQ_KEPT);
    assert_eq!(enqueue(queue, 100, FULL, 12, &context), SJQ_KEPT);
    assert_eq!(enqueue(queue, 200, FULL, 13, &context), SJQ_REFUSED);
    assert_eq!(*told.dropped.borrow(), [(13, 1500, 0)]);
    assert_eq!(*told.kept.borrow(), [(11, -1, 0), (12, -1, 0)]);
    assert_eq!(backlog(queue, -1), (3000, 2));
    // SAFETY: the handle lives.
    unsafe {
        assert_eq!(sjq_head_length(queue), 1500);
        assert_eq!(sjq_next_timer(queue), u64::MAX);
    }
    assert_eq!(dequeue(queue, 1_000_000, -1, &context), (1, 11, FULL, 0));
    assert_eq!(dequeue(queue, 2_000_000, -1, &context), (1, 12, FULL, 0));
    assert_eq!(dequeue(queue, 3_000_000, -1, &context).0, 0);
    assert_eq!(backlog(queue, -1), (0, 0));
    // SAFETY: the handle lives until then.
    unsafe { sjq_free(queue) };
}

#[test]
fn what_is_wrong_with_a_line_is_told_in_the_room_there_is() {
    assert_eq!(refused(b"codle", 100), (SJQ_CONFIG, "\"codle\" is no queue manager (did you mean codel?)".into()));
    assert_eq!(refused(b"codle", 8), (SJQ_CONFIG, "\"codle\"".into()));
    assert_eq!(refused(b"codle", 1), (SJQ_CONFIG, String::new()));
    assert_eq!(refused(b"", 100).1, "no queue manager is named (for instance codel target=10ms)");
    assert_eq!(refused(b"\xff\xfe", 100).1, "the line is not UTF-8");
    let told = refused(b"drop-tail limit=\"100 ms\"", 200).1;
    assert!(told.contains("only at a rate"), "{told}");
    // SAFETY: null is what is tried.
    unsafe {
        assert_eq!(sjq_new(null(), 3, 0, &mut null_mut(), null_mut(), 0), SJQ_NULL);
        assert_eq!(sjq_new(c"pie".as_ptr(), 3, 0, null_mut(), null_mut(), 0), SJQ_NULL);
        assert_eq!(sjq_new(c"pie".as_ptr(), 3, u64::MAX, &mut null_mut(), null_mut(), 0), SJQ_CONFIG);
    }
    assert_eq!(sjq_abi(), SJQ_ABI);
}

#[test]
fn fields_and_times_that_there_are_none_of_change_nothing() {
    let (told, queue) = (Told::default(), made("codel"));
    let context = told.context();
    assert_eq!(enqueue(queue, 5000, FULL, 1, &context), SJQ_KEPT);
    for meta in [
        sjq_meta { length: 0, ..FULL },
        sjq_meta { ecn: 4, ..FULL },
        sjq_meta { dscp: 64, ..FULL },
        sjq_meta { pure_ack: 2, ..FULL },
        sjq_meta { queue: 3, ..FULL },
    ] {
        assert_eq!(enqueue(queue, 6000, meta, 2, &context), SJQ_FIELD, "{meta:?}");
    }
    assert_eq!(enqueue(queue, 4999, FULL, 2, &context), SJQ_TIME);
    assert_eq!(enqueue(queue, u64::MAX, FULL, 2, &context), SJQ_TIME);
    assert_eq!(dequeue(queue, 4999, -1, &context).0, SJQ_TIME);
    assert_eq!(dequeue(queue, 5000, 3, &context).0, SJQ_FIELD);
    assert_eq!(dequeue(queue, 5000, -2, &context).0, SJQ_FIELD);
    let small = sjq_context { size: 16, ..context };
    assert_eq!(enqueue(queue, 5000, FULL, 2, &small), SJQ_CONTEXT);
    let silent = sjq_context { dropped: None, ..context };
    assert_eq!(enqueue(queue, 5000, FULL, 2, &silent), SJQ_CONTEXT);
    // SAFETY: null is what is tried.
    unsafe {
        assert_eq!(sjq_enqueue(queue, 5000, null(), 2, &raw const context), SJQ_NULL);
        assert_eq!(sjq_enqueue(null(), 5000, &FULL, 2, &raw const context), SJQ_NULL);
        assert_eq!(sjq_enqueue(queue, 5000, &FULL, 2, null()), SJQ_NULL);
        assert_eq!(sjq_dequeue(queue, 5000, -1, &raw const context, null_mut(), null_mut(), null_mut()), SJQ_NULL);
        assert_eq!(sjq_on_timer(null(), 0, &raw const context), SJQ_NULL);
        assert_eq!(sjq_set_context(null(), &raw const context), SJQ_NULL);
        assert_eq!(sjq_next_timer(null()), u64::MAX);
        assert_eq!(sjq_head_length(null()), -1);
        sjq_backlog(null(), -1, null_mut(), null_mut());
        sjq_free(null_mut());
    }
    assert_eq!(backlog(queue, -1), (1500, 1));
    // SAFETY: the handle lives until then.
    unsafe { sjq_free(queue) };
}

#[test]
fn a_context_of_an_older_caller_has_defaults_beyond_its_size() {
    let (told, queue) = (Told::default(), made("drop-tail limit=\"2 packets\""));
    let older = u32::try_from(offset_of!(sjq_context, kept)).expect("a small struct");
    let context = sjq_context { size: older, ..told.context() };
    assert_eq!(enqueue(queue, 0, FULL, 1, &context), SJQ_KEPT);
    assert!(told.kept.borrow().is_empty());
    // SAFETY: the handle lives until then.
    unsafe { sjq_free(queue) };
}

#[test]
fn packets_are_marked_and_placed() {
    let (told, queue) = (Told::default(), made("dualpi2"));
    let context = told.context();
    for item in 0..8 {
        let ecn = u8::from(item % 2 == 0);
        assert_eq!(enqueue(queue, 0, sjq_meta { ecn, ..FULL }, item, &context), SJQ_KEPT);
    }
    assert_eq!(told.kept.borrow()[..2], [(0, 1, 0), (1, 0, 0)]);
    assert_eq!((backlog(queue, 0).1, backlog(queue, 1).1, backlog(queue, 2).1), (4, 4, 0));
    // After 20 ms the low-latency queue is above its ramp: likelihoods of 1 add up, and the second packet carries CE.
    let (code, item, meta, marked) = dequeue(queue, 20_000_000, 1, &context);
    assert_eq!((code, item, meta.ecn, meta.queue, marked), (1, 0, 1, 1, 0));
    let (code, item, meta, marked) = dequeue(queue, 20_000_000, 1, &context);
    assert_eq!((code, item, meta.ecn, meta.queue, marked), (1, 2, 3, 1, 1));
    assert_eq!(*told.marked.borrow(), [(2, 3)]);
    // SAFETY: the handle lives until then.
    unsafe { sjq_free(queue) };
}

#[test]
fn updates_run_one_by_one_when_they_are_due() {
    let (told, queue) = (Told::default(), made("pie"));
    let context = told.context();
    // SAFETY: the handle lives.
    unsafe {
        assert_eq!(sjq_next_timer(queue), 15_000_000);
        assert_eq!(sjq_on_timer(queue, 14_999_999, &raw const context), SJQ_TIME);
        assert_eq!(sjq_on_timer(queue, 31_000_000, &raw const context), 1);
        assert_eq!(sjq_next_timer(queue), 30_000_000);
        assert_eq!(sjq_on_timer(queue, 31_000_000, &raw const context), 0);
        assert_eq!(sjq_next_timer(queue), 45_000_000);
        // A call at 50 ms came before this one at 46: time does not go back.
        assert_eq!(enqueue(queue, 30_999_999, FULL, 1, &context), SJQ_TIME);
        assert_eq!(enqueue(queue, 50_000_000, FULL, 1, &context), SJQ_KEPT);
        assert_eq!(sjq_on_timer(queue, 46_000_000, &raw const context), SJQ_TIME);
        assert_eq!(sjq_on_timer(queue, 50_000_000, &raw const context), 0);
        sjq_free(queue);
    }
}

#[test]
fn what_waits_at_the_end_goes_to_the_context_that_was_set() {
    for line in ["drop-tail limit=\"9 packets\"", "fq-codel queues=16", "docsis-dual-queue"] {
        let (told, queue) = (Told::default(), made(line));
        let context = told.context();
        // SAFETY: the handle lives until it is freed.
        unsafe {
            assert_eq!(sjq_set_context(queue, &raw const context), 0);
            for item in 0..3 {
                assert_eq!(enqueue(queue, 0, FULL, item, &context), SJQ_KEPT);
            }
            sjq_free(queue);
        }
        let mut items = told.dropped.borrow().clone();
        items.sort_unstable();
        assert_eq!(items, [(0, 1500, 255), (1, 1500, 255), (2, 1500, 255)], "{line}");
    }
    let (told, queue) = (Told::default(), made("codel"));
    assert_eq!(enqueue(queue, 0, FULL, 1, &told.context()), SJQ_KEPT);
    // SAFETY: the handle lives until then; no context was set, so nothing is reported.
    unsafe { sjq_free(queue) };
    assert!(told.dropped.borrow().is_empty());
}

#[test]
fn a_callback_that_calls_its_own_handle_is_refused() {
    let (told, queue) = (Told::default(), made("drop-tail limit=\"1 packets\""));
    let context = told.context();
    assert_eq!(enqueue(queue, 0, FULL, 1, &context), SJQ_KEPT);
    *told.handle.borrow_mut() = queue;
    assert_eq!(enqueue(queue, 0, FULL, 2, &context), SJQ_REFUSED);
    assert_eq!(*told.answers.borrow(), [SJQ_BUSY]);
    *told.handle.borrow_mut() = null_mut();
    assert_eq!(backlog(queue, -1), (1500, 1));
    // SAFETY: it was not freed by the callback.
    unsafe { sjq_free(queue) };
}

#[test]
fn a_draw_without_a_number_poisons_the_handle() {
    let none: Option<unsafe extern "C" fn(*mut c_void) -> f64> = None;
    for unit in [none, Some(nonsense)] {
        let (told, queue) =
            (Told::default(), made("red limit=\"9 packets\" weight=1.0 minimum=\"1 packets\" wait=false"));
        let context = sjq_context { unit, ..told.context() };
        let codes: Vec<i32> = (0..6).map(|item| enqueue(queue, item, FULL, item, &context)).collect();
        assert_eq!(codes.last(), Some(&SJQ_POISONED), "{codes:?}");
        assert_eq!(dequeue(queue, 9, -1, &told.context()).0, SJQ_POISONED);
        // SAFETY: it may still be freed.
        unsafe { sjq_free(queue) };
    }
}

/// A manager that panics at its second packet.
#[derive(Debug)]
struct Panics(u32);

impl QueueManager for Panics {
    fn enqueue(&mut self, _: Instant, _: Meta, _: PacketHandle, _: &mut dyn QueueContext) -> Verdict {
        self.0 += 1;
        assert!(self.0 < 2, "the second packet");
        Verdict::Accepted
    }
    fn dequeue(&mut self, _: Instant, _: &mut dyn QueueContext) -> Option<Held> {
        None
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
}

#[test]
fn a_panic_ends_at_the_border_and_poisons_the_handle() {
    let told = Told::default();
    let context = told.context();
    let queue = Box::into_raw(Box::new(sjq_queue::new(Box::new(Panics(0)))));
    std::panic::set_hook(Box::new(|_| {}));
    assert_eq!(enqueue(queue, 0, FULL, 1, &context), SJQ_KEPT);
    assert_eq!(enqueue(queue, 0, FULL, 2, &context), SJQ_POISONED);
    let _ = std::panic::take_hook();
    assert_eq!(enqueue(queue, 0, FULL, 3, &context), SJQ_POISONED);
    // SAFETY: the handle lives until it is freed.
    unsafe {
        assert_eq!(sjq_on_timer(queue, 0, &raw const context), SJQ_POISONED);
        assert_eq!(sjq_set_context(queue, null()), SJQ_POISONED);
        sjq_free(queue);
    }
}

#[test]
fn numbers_of_reasons_and_queues_and_sizes_are_those_of_version_1() {
    let reasons: Vec<(u8, &str)> =
        Reason::ALL.into_iter().map(|reason| (types::reason_of(reason), reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            (0, "overlimit"),
            (1, "fat_flow"),
            (2, "early"),
            (3, "forced"),
            (4, "target"),
            (5, "overload"),
            (6, "blue"),
            (7, "disturbed"),
            (8, "policed"),
            (9, "unheard"),
        ]
    );
    let queues = ServiceQueue::ALL.map(|queue| (number_of(queue), queue.as_str()));
    assert_eq!(queues, [(0, "classic"), (1, "low_latency"), (2, "ack_priority")]);
    assert_eq!(size_of::<sjq_meta>(), 16);
    assert_eq!(offset_of!(sjq_meta, host), 14);
    for number in 0..4 {
        let meta = sjq_meta { ecn: number, dscp: 63, pure_ack: 1, queue: 2, host: 700, ..FULL };
        assert_eq!(meta.read().map(|read| sjq_meta::of(&read)), Some(meta));
    }
}

//! Any text as a golden trace: it is read or refused; what reads, prints and reads back as the same, and its manager loses
//! no packet when it is replayed, whatever the trace says that it did.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_base::Span;
use sojourn_queue::trace::Trace;

fuzz_target!(|text: &str| {
    let Ok(trace) = Trace::read(text) else {
        return;
    };
    let again = Trace::read(&trace.to_string()).expect("what was printed is a trace");
    assert_eq!((&again.header, &again.records), (&trace.header, &trace.records));
    let Ok(done) = trace.replay() else {
        return;
    };
    let _ = trace.difference(&done);
    let _ = trace.difference_with_slack(&done, Span::from_us(1));
    if let Some(difference) = trace.difference_by_law(&done) {
        let message = difference.message;
        assert!(!message.contains("left twice") && !message.contains("never came"), "{message}");
    }
});

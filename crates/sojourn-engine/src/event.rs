//! What can happen at an instant.

use sojourn_base::Direction;
use sojourn_transport::Timer;

/// An event, eight bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The first packet in flight on the wire of a route arrives.
    WireDelivery {
        /// The route.
        route: u16,
    },
    /// The first packet in flight on the access link downstream arrives.
    AccessDelivery,
    /// An access link wants to be called.
    Wakeup {
        /// Which of the two.
        direction: Direction,
    },
    /// A timer of an endpoint may be due.
    EndpointTimer {
        /// 0 for the client, 1 for the server.
        end: bool,
        /// Which timer.
        timer: Timer,
        /// Generation of the slot when the timer was armed.
        generation: u8,
        /// Slot of the connection.
        slot: u32,
    },
    /// A timer of an application is due.
    ApplicationTimer {
        /// Entry of the traffic list.
        traffic: u16,
        /// The application's token.
        token: u32,
    },
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_event_fits_into_eight_bytes() {
        assert_eq!(size_of::<super::Event>(), 8);
    }
}

//! Events of the engine.

use sojourn_record::LinkId;
use sojourn_transport::Timer;

/// An event, eight bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The first packet on a wire arrives.
    WireDelivery {
        /// Number of the wire.
        wire: u32,
    },
    /// The first packet that a link has announced arrives.
    LinkDelivery {
        /// The link.
        link: LinkId,
    },
    /// A link wants to be called.
    Wakeup {
        /// The link.
        link: LinkId,
    },
    /// A service group wants to be called.
    GroupWakeup {
        /// Number of the group.
        group: u16,
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
    /// The recorder wants every connection looked at.
    Sample,
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

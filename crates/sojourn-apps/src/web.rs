//! Web pages: one index object, then many small ones from several servers, loaded by a browser that
//! opens a new connection for each and at most six to a server, keeps its connections, or has one to each server.
//!
//! Source: White 2012 3.2.3 and Appendix A; White 2013 1.1 (a new connection per object), 3.6 and 3.7
//! (object sizes of Appendix A, several users, no name look-ups); RFC 9112 section 9.3, RFC 9113 section 5, RFC 9114
//! section 6.1 (kept and shared connections).
//! Deviations: the first connections go out in turn over the servers (their order is not printed); closing
//! is never waited for; a connection that fails is opened
//! anew at once.

mod browser;
mod page;

pub use browser::Web;
pub use page::{EqualPage, GeneratedPage, ListedPage, PageModel};

use crate::keys::TLS;
use crate::keys::{LONGEST_PAUSE, START, START_JITTER};
use crate::tls::Tls;
use crate::{Application, ApplicationKind};
use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::Mismatch;
use sojourn_keys::words;
use sojourn_keys::{Key, bytes, choices, origin, parameters};

parameters! {
    /// Parameters of [`Web`]; start from a named profile and change what differs. All users talk to the same servers.
    #[derive(Copy)]
    pub struct WebConfig: "web", "people who load web pages" {
        /// objects of a page beside its index object
        page: PageModel = PageModel::BASE, origin("White 2012 §3.2.3");
        /// size of the index object
        index: Bytes = Bytes(100_000), origin("White 2012 §3.2.3").least("1 B").most("1 GB");
        /// connections that a browser keeps open to one server at a time
        connections_per_server: u32 = 6, origin("White 2012 §3.2.3").least("1").most("1000");
        /// how objects share connections
        #[native()]
        protocol: Protocol = Protocol::PerObject, origin("White 2013 §1.1: a connection for each object");
        #[native()]
        tls: Tls = Tls::Off, TLS, if |it| it.tls != Tls::Off;
        /// size of a request
        ///
        /// In application bytes. Fitted: not printed. The printed totals (Tables 7 and 8) leave, for the uploads of a
        /// page, 131 to 145 kB, 138.5 kB on average; with SYN, FIN, an acknowledgement for each segment and for the
        /// server's FIN, and 50 B of headers, that leaves some 250 B for a request.
        request: Bytes = Bytes(250),
            origin("fitted: the upstream bytes per page that the totals of White 2012 Tables 7 and 8 leave")
                .least("1 B").most("1 MB");
        /// pause from the end of a page to the start of the next
        think: Span = Span::from_s(5), origin("White 2012 §3.2.3").most(LONGEST_PAUSE).unit("s");
        /// number of people, each with a browser
        users: u32 = 1, origin("White 2012 §3.2.3").least("1").most("10000");
        // chosen: puts the first burst of SYNs where White 2012 4.3.2 sees it.
        start: Span = Span::from_s(1), START;
        start_jitter: Span = Span::ZERO, START_JITTER;
        /// end that closes a connection whose object is complete
        closing: Closing = Closing::BASE, origin("White 2013 §1.1: the browser closes it and opens a new one");
        /// look up each server's name before its first connection of a page
        name_lookup: NameLookup = NameLookup::Off, origin("White 2013 §3.6: none");
    }
    profiles {
        /// White 2012 §3.2.3: 100 kB, then 100 objects of 25 kB
        WHITE2012 "white2012" {}
        /// White 2013 §3.6: the files of White 2012 Appendix A, 716,802 B
        WHITE2013 "white2013" {
            page = PageModel::Listed(ListedPage::WHITE2012_APPENDIX_A);
            index = Bytes(102_400);
        }
    }
}

impl WebConfig {
    /// How many servers the browsers talk to, the resolver included.
    pub fn servers(&self) -> usize {
        self.page.servers() + usize::from(self.name_lookup != NameLookup::Off)
    }
}

words! {
    /// How the objects of a page share connections.
    pub enum Protocol {
        /// each has a connection of its own
        PerObject = "http1.0",
        /// connections are kept until the page is complete, one object at a time on each
        KeptAlive = "http1.1",
        /// one connection to each server for all at once: HTTP/2 with a TCP stack, HTTP/3 with `quic`
        Multiplexed = "multiplexed",
    }
}

choices! {
    /// The end that closes a connection whose object is complete.
    #[derive(Copy, Eq)]
    pub enum Closing {
        /// the browser, with the last byte: its FIN acknowledges it; the server in answer
        ///
        /// The SYN of the next object follows the FIN. (White 2013 1.1: once a resource is received, the browser closes
        /// the connection and opens another.)
        Browser = "browser",
        /// the server, with its response; the browser never
        ///
        /// As HTTP/1.0 does.
        Server {
            /// how long after its object both ends forget the connection
            forget_after: Span = Span::from_s(10),
                origin("chosen: longer than anything that is still to come").least("1 ms").most(LONGEST_PAUSE);
        } = "server",
    }
}

const fn size() -> Key {
    origin("chosen: a short name and a few addresses").least("20 B").most("64 KiB")
}

choices! {
    /// How a browser looks up the name of a server; the query goes out again after a timeout.
    #[derive(Copy, Eq)]
    pub enum NameLookup {
        /// names are known
        Off = "off",
        /// one datagram to a resolver, one back; the resolver is one server more
        Datagram {
            /// IP length of the query
            query: u32 = 60, size() => bytes;
            /// IP length of the answer
            answer: u32 = 120, size() => bytes;
            /// wait for the answer before asking again
            timeout: Span = Span::from_s(5), origin("White 2013 §3.6").least("1 ms").most("1 h").unit("s");
        } = "datagram",
    }
}

impl ApplicationKind for WebConfig {
    fn build(&self) -> Box<dyn Application> {
        self.tls.secure(Web::new(self))
    }

    fn servers(&self) -> usize {
        Self::servers(self)
    }

    fn flows(&self) -> u64 {
        u64::from(self.users)
            .saturating_mul(u64::from(self.connections_per_server))
            .saturating_mul(self.servers() as u64)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.users).saturating_mul(self.bytes_of_user())
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problem_over_quic(&self) -> Option<(&'static str, Mismatch)> {
        self.tls.problem_over_quic().map(|problem| ("tls", problem))
    }
}

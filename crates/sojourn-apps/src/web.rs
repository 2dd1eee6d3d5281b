//! Web pages: one index object, then many small ones from several servers, loaded by a browser that
//! opens a new connection for each and at most six to a server.
//!
//! Source: White 2012 3.2.3 and Appendix A; White 2013 1.1 (a new connection per object), 3.6 and 3.7
//! (object sizes of Appendix A, several users, no name look-ups).
//! Deviations: the first connections go out in turn over the servers (their order is not printed); closing
//! is never waited for; a connection that fails is opened
//! anew at once.

mod browser;
mod keys;
mod page;

pub use browser::Web;
pub use page::{EqualPage, GeneratedPage, ListedPage, PageModel};

use sojourn_base::{Bytes, Span};

/// Parameters of [`Web`]; start from a named profile and change what differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebConfig {
    /// What a page consists of beside its index object.
    pub page: PageModel,
    /// Size of the index object, which comes from server 0.
    pub index: Bytes,
    /// Connections that a browser keeps open to one server at a time.
    pub connections_per_server: u32,
    /// Size of a request in application bytes.
    pub request: Bytes,
    /// Pause from the end of a page to the start of the next.
    pub think: Span,
    /// Number of users, each with a browser of their own, on the same servers.
    pub users: u32,
    /// When the users start.
    pub start: Span,
    /// Each user starts later by a time drawn uniformly from zero to this.
    pub start_jitter: Span,
    /// Who closes a connection whose object is complete.
    pub closing: Closing,
    /// Look up each server's name before its first connection of a page.
    pub name_lookup: Option<NameLookupConfig>,
}

impl WebConfig {
    /// The page of White 2012 3.2.3: 100 kB and 100 objects of 25 kB on four servers, pause 5 s.
    /// Chosen: the start at 1 s puts the first burst of SYNs where White 2012 4.3.2 sees it.
    /// Fitted: requests of 250 B (not printed). What the printed totals (Tables 7 and 8) leave for the
    /// uploads of a page is 131 to 145 kB, 138.5 kB on average; with SYN, FIN, an acknowledgement for each
    /// segment and for the server's FIN, and 50 B of headers, that leaves some 250 B for a request.
    pub const WHITE2012: Self = Self {
        page: PageModel::Equal(EqualPage::WHITE2012),
        index: Bytes(100_000),
        connections_per_server: 6,
        request: Bytes(250),
        think: Span::from_s(5),
        users: 1,
        start: Span::from_s(1),
        start_jitter: Span::ZERO,
        closing: Closing::Browser,
        name_lookup: None,
    };
    /// The page of White 2013 3.6 and 3.7: the files of White 2012 Appendix A, 716,802 B in all.
    pub const WHITE2013: Self = Self {
        page: PageModel::Listed(ListedPage::WHITE2012_APPENDIX_A),
        index: Bytes(102_400),
        ..Self::WHITE2012
    };

    /// How many servers the browsers talk to, the resolver included.
    pub fn servers(&self) -> usize {
        self.page.servers() + usize::from(self.name_lookup.is_some())
    }
}

/// Who closes a connection whose object is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The browser, at the last byte and before its end of the connection acknowledges it: the FIN carries
    /// that acknowledgement, and the SYN of the next object follows it. The server closes in answer.
    /// (White 2013 1.1: once a resource is received, the browser closes the connection and opens another.)
    Browser,
    /// The server, with its response, as HTTP/1.0 does. The browser never closes, and both ends forget the
    /// connection so long after its object.
    Server {
        /// The time.
        forget_after: Span,
    },
}

impl Closing {
    /// Chosen: 10 s, longer than anything that is still to come.
    pub const SERVER: Self = Self::Server {
        forget_after: Span::from_s(10),
    };
}

/// How a browser looks up the name of a server: one datagram to a resolver, one back, and again after
/// a timeout if either is lost. The resolver is the server after the last one of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameLookupConfig {
    /// IP length of the query.
    pub query: u32,
    /// IP length of the answer.
    pub answer: u32,
    /// How long the browser waits for the answer before it asks again.
    pub timeout: Span,
}

impl NameLookupConfig {
    /// White 2013 3.6 names the usual timeout of 5 s. Chosen: queries of 60 B (a short name) and answers
    /// of 120 B (the same with a few addresses).
    pub const WHITE2013: Self = Self {
        query: 60,
        answer: 120,
        timeout: Span::from_s(5),
    };
}

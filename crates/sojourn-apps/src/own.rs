//! Applications from outside this crate: added when the program starts, called through a pointer.
//!
//! Source: none needed. Deviations: none known.

use core::fmt;

use sojourn_base::{Bytes, Direction, Instant, Span};
use sojourn_keys::{Family, Mismatch, NameTaken, Own, Pointed, Takes};

use crate::{
    Application, ApplicationConfig, ApplicationContext, ApplicationKind, Chunk, ConnectionId,
    DownloadSession, Draw, End, Event, Frame, Interest, LiveSecond, LiveSession, Object, Page,
    StreamingSession, Transfer,
};

/// Parameters of an own application.
pub type OwnConfiguration = Own<ApplicationConfig>;

/// Makes a kind of application known, before the first file that asks for it is read.
pub fn add_application<C>() -> Result<(), NameTaken>
where
    C: ApplicationKind,
    C::Application: fmt::Debug + Send + 'static,
{
    crate::KINDS.add_own::<C>()
}

/// What [`ApplicationKind`] says, as far as a pointer can say it.
pub trait PointedApplication: Pointed<ApplicationConfig> {
    /// See [`ApplicationKind::servers`].
    fn servers(&self) -> usize;
    /// See [`ApplicationKind::datagrams`].
    fn datagrams(&self) -> Option<(&'static str, Bytes)>;
    /// See [`ApplicationKind::flows`].
    fn flows(&self) -> u64;
    /// See [`ApplicationKind::bytes`].
    fn bytes(&self) -> u64;
    /// See [`ApplicationKind::direction`].
    fn direction(&self) -> Direction;
    /// See [`ApplicationKind::is_in_step`].
    fn is_in_step(&self) -> bool;
    /// See [`ApplicationKind::problems`].
    fn problems(&self, duration: Span) -> Vec<(&'static str, Mismatch)>;
    /// See [`ApplicationKind::build`].
    fn build(&self) -> OwnApplication;
}

impl<C> PointedApplication for C
where
    C: ApplicationKind,
    C::Application: fmt::Debug + Send + 'static,
{
    fn servers(&self) -> usize {
        ApplicationKind::servers(self)
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        ApplicationKind::datagrams(self)
    }

    fn flows(&self) -> u64 {
        ApplicationKind::flows(self)
    }

    fn bytes(&self) -> u64 {
        ApplicationKind::bytes(self)
    }

    fn direction(&self) -> Direction {
        ApplicationKind::direction(self)
    }

    fn is_in_step(&self) -> bool {
        ApplicationKind::is_in_step(self)
    }

    fn problems(&self, duration: Span) -> Vec<(&'static str, Mismatch)> {
        ApplicationKind::problems(self, duration)
    }

    fn build(&self) -> OwnApplication {
        OwnApplication(Box::new(ApplicationKind::build(self)))
    }
}

impl Family for ApplicationConfig {
    type Pointer = dyn PointedApplication;

    fn own(own: OwnConfiguration) -> Self {
        Self::Own(own)
    }

    fn own_mut(&mut self) -> Option<&mut OwnConfiguration> {
        match self {
            Self::Own(own) => Some(own),
            _ => None,
        }
    }
}

impl<C> Takes<C> for ApplicationConfig
where
    C: ApplicationKind,
    C::Application: fmt::Debug + Send + 'static,
{
    fn boxed(configuration: C) -> Box<dyn PointedApplication> {
        Box::new(configuration)
    }
}

/// An own application.
#[derive(Debug)]
pub struct OwnApplication(Box<dyn Running>);

/// [`Application`] with its context behind a pointer.
trait Running: fmt::Debug + Send {
    fn interest(&self) -> Interest;
    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext);
    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext);
    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext);
}

impl<A: Application + fmt::Debug + Send> Running for A {
    fn interest(&self) -> Interest {
        Application::interest(self)
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        Application::start(self, now, &mut PointedContext(context));
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        Application::on_event(self, now, event, &mut PointedContext(context));
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        Application::finish(self, now, &mut PointedContext(context));
    }
}

impl OwnApplication {
    pub(crate) fn interest(&self) -> Interest {
        self.0.interest()
    }

    pub(crate) fn start(&mut self, now: Instant, context: &mut impl ApplicationContext) {
        self.0.start(now, context);
    }

    pub(crate) fn on_event(
        &mut self,
        now: Instant,
        event: Event,
        context: &mut impl ApplicationContext,
    ) {
        self.0.on_event(now, event, context);
    }

    pub(crate) fn finish(&mut self, now: Instant, context: &mut impl ApplicationContext) {
        self.0.finish(now, context);
    }
}

/// A context behind a pointer.
struct PointedContext<'a>(&'a mut dyn ApplicationContext);

impl ApplicationContext for PointedContext<'_> {
    fn work(&mut self, units: u64) -> bool {
        self.0.work(units)
    }

    fn open(&mut self, server: usize) -> ConnectionId {
        self.0.open(server)
    }

    fn write(&mut self, connection: ConnectionId, end: End, bytes: u64) {
        self.0.write(connection, end, bytes);
    }

    fn close(&mut self, connection: ConnectionId, end: End) {
        self.0.close(connection, end);
    }

    fn await_delivered(&mut self, connection: ConnectionId, end: End, total: u64) {
        self.0.await_delivered(connection, end, total);
    }

    fn await_acknowledged(&mut self, connection: ConnectionId, end: End, total: u64) {
        self.0.await_acknowledged(connection, end, total);
    }

    fn abandon(&mut self, connection: ConnectionId) {
        self.0.abandon(connection);
    }

    fn send_datagram(&mut self, server: usize, direction: Direction, length: u32) {
        self.0.send_datagram(server, direction, length);
    }

    fn send_tagged_datagram(&mut self, server: usize, direction: Direction, length: u32, tag: u32) {
        self.0.send_tagged_datagram(server, direction, length, tag);
    }

    fn arm(&mut self, at: Instant, token: u32) {
        self.0.arm(at, token);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.0.unit(purpose)
    }

    fn record_transfer(&mut self, transfer: &Transfer) {
        self.0.record_transfer(transfer);
    }

    fn record_page(&mut self, page: &Page) {
        self.0.record_page(page);
    }

    fn record_object(&mut self, object: &Object) {
        self.0.record_object(object);
    }

    fn record_chunk(&mut self, chunk: &Chunk) {
        self.0.record_chunk(chunk);
    }

    fn record_frame(&mut self, frame: &Frame) {
        self.0.record_frame(frame);
    }

    fn record_streaming_session(&mut self, session: &StreamingSession) {
        self.0.record_streaming_session(session);
    }

    fn record_live_second(&mut self, second: &LiveSecond) {
        self.0.record_live_second(second);
    }

    fn record_live_session(&mut self, session: &LiveSession) {
        self.0.record_live_session(session);
    }

    fn record_download_session(&mut self, session: &DownloadSession) {
        self.0.record_download_session(session);
    }
}

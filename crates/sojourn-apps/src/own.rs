//! Applications from outside this crate: added when the program starts, called through a pointer.
//!
//! Source: none needed. Deviations: none known.

use core::any::Any;
use core::fmt;

use sojourn_base::{Bytes, Direction, Instant};
use sojourn_keys::{AnyKind, KindInfo, KindOf, NameTaken, Visitor};

use crate::{
    Application, ApplicationConfig, ApplicationContext, ApplicationKind, ConnectionId, Draw, End,
    Event, Interest, Object, Page, Transfer,
};

/// Makes a kind of application known, before the first file that asks for it is read.
pub fn add_application<C>() -> Result<(), NameTaken>
where
    C: ApplicationKind,
    C::Application: fmt::Debug + Send + 'static,
{
    crate::KINDS.add(&OwnKind::<C>(KindOf::KIND))
}

#[derive(Debug)]
struct OwnKind<C>(KindOf<C>);

impl<C> AnyKind<ApplicationConfig> for OwnKind<C>
where
    C: ApplicationKind,
    C::Application: fmt::Debug + Send + 'static,
{
    fn info(&self) -> KindInfo {
        KindOf::<C>::describe()
    }

    fn values(&self, profile: Option<&str>) -> ApplicationConfig {
        ApplicationConfig::Own(OwnConfiguration(Box::new(KindOf::<C>::configuration(
            profile,
        ))))
    }

    fn keys(&self, value: &mut ApplicationConfig, visitor: &mut dyn Visitor) {
        if let ApplicationConfig::Own(own) = value
            && let Some(config) = own.0.as_any_mut().downcast_mut::<C>()
        {
            config.keys(visitor);
        }
    }
}

/// Parameters of an own application.
#[derive(Debug)]
pub struct OwnConfiguration(Box<dyn Parameters>);

/// What [`ApplicationKind`] says, as far as a pointer can say it.
trait Parameters: fmt::Debug + Send + Sync {
    fn kind(&self) -> &'static str;
    fn duplicate(&self) -> Box<dyn Parameters>;
    fn equals(&self, other: &dyn Any) -> bool;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn servers(&self) -> usize;
    fn datagrams(&self) -> Option<(&'static str, Bytes)>;
    fn flows(&self) -> u64;
    fn direction(&self) -> Direction;
    fn is_in_step(&self) -> bool;
    fn build(&self) -> OwnApplication;
}

impl<C> Parameters for C
where
    C: ApplicationKind,
    C::Application: fmt::Debug + Send + 'static,
{
    fn kind(&self) -> &'static str {
        C::KIND
    }

    fn duplicate(&self) -> Box<dyn Parameters> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<C>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn servers(&self) -> usize {
        ApplicationKind::servers(self)
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        ApplicationKind::datagrams(self)
    }

    fn flows(&self) -> u64 {
        ApplicationKind::flows(self)
    }

    fn direction(&self) -> Direction {
        ApplicationKind::direction(self)
    }

    fn is_in_step(&self) -> bool {
        ApplicationKind::is_in_step(self)
    }

    fn build(&self) -> OwnApplication {
        OwnApplication(Box::new(ApplicationKind::build(self)))
    }
}

impl Clone for OwnConfiguration {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

impl PartialEq for OwnConfiguration {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_any())
    }
}

impl OwnConfiguration {
    pub(crate) fn kind(&self) -> &'static str {
        self.0.kind()
    }

    pub(crate) fn servers(&self) -> usize {
        self.0.servers()
    }

    pub(crate) fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        self.0.datagrams()
    }

    pub(crate) fn flows(&self) -> u64 {
        self.0.flows()
    }

    pub(crate) fn direction(&self) -> Direction {
        self.0.direction()
    }

    pub(crate) fn is_in_step(&self) -> bool {
        self.0.is_in_step()
    }

    pub(crate) fn build(&self) -> OwnApplication {
        self.0.build()
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
        Application::start(self, now, &mut Pointed(context));
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        Application::on_event(self, now, event, &mut Pointed(context));
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        Application::finish(self, now, &mut Pointed(context));
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
struct Pointed<'a>(&'a mut dyn ApplicationContext);

impl ApplicationContext for Pointed<'_> {
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
}

//! All applications as one closed type, so that the engine dispatches without boxes.

use crate::{
    Application, Bulk, BulkConfig, ConstantRate, ConstantRateConfig, Event, Host, Interest, Web,
    WebConfig,
};
use sojourn_base::Instant;

/// What a scenario may ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplicationConfig {
    /// File transfers.
    Bulk(BulkConfig),
    /// Voice, games, constant bit rate.
    ConstantRate(ConstantRateConfig),
    /// Web pages.
    Web(WebConfig),
}

impl ApplicationConfig {
    /// How many servers the application talks to: it names them `0..servers()` to its host.
    pub fn servers(&self) -> usize {
        match self {
            Self::Bulk(_) => 1,
            Self::ConstantRate(config) => config.lanes as usize,
            Self::Web(config) => config.servers(),
        }
    }
}

/// An application of a scenario.
#[derive(Clone, Debug)]
pub enum AnyApplication {
    /// File transfers.
    Bulk(Bulk),
    /// Voice, games, constant bit rate.
    ConstantRate(ConstantRate),
    /// Web pages.
    Web(Web),
}

impl AnyApplication {
    /// The application that `config` describes.
    ///
    /// # Panics
    /// Where the constructor of the kind does: see [`ConstantRate::new`].
    pub fn build(config: &ApplicationConfig) -> Self {
        match config {
            ApplicationConfig::Bulk(config) => Self::Bulk(Bulk::new(config)),
            ApplicationConfig::ConstantRate(config) => {
                Self::ConstantRate(ConstantRate::new(config))
            }
            ApplicationConfig::Web(config) => Self::Web(Web::new(config)),
        }
    }
}

impl Application for AnyApplication {
    fn interest(&self) -> Interest {
        match self {
            Self::Bulk(application) => application.interest(),
            Self::ConstantRate(application) => application.interest(),
            Self::Web(application) => application.interest(),
        }
    }

    fn start(&mut self, now: Instant, host: &mut impl Host) {
        match self {
            Self::Bulk(application) => application.start(now, host),
            Self::ConstantRate(application) => application.start(now, host),
            Self::Web(application) => application.start(now, host),
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, host: &mut impl Host) {
        match self {
            Self::Bulk(application) => application.on_event(now, event, host),
            Self::ConstantRate(application) => application.on_event(now, event, host),
            Self::Web(application) => application.on_event(now, event, host),
        }
    }

    fn finish(&mut self, now: Instant, host: &mut impl Host) {
        match self {
            Self::Bulk(application) => application.finish(now, host),
            Self::ConstantRate(application) => application.finish(now, host),
            Self::Web(application) => application.finish(now, host),
        }
    }
}

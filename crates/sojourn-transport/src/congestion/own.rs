//! Controllers from outside this crate: added when the program starts, called through a pointer.
//!
//! A stack's parameters are copied freely, so those of an own controller live as long as the program: a changed value
//! is a new set of them.
//!
//! Source: none needed. Deviations: none known.

use super::{CongestionControl, ControllerConfig, ControllerKind, KINDS};
use crate::StackConfig;
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::Debug;
use sojourn_keys::{AnyKind, KindInfo, KindOf, NameTaken, Visitor};

/// Makes a kind of controller known, before the first file that asks for it is read.
pub fn add_controller<C: ControllerKind>() -> Result<(), NameTaken>
where
    C::Controller: 'static,
{
    KINDS.add(Box::leak(Box::new(OwnKind::<C>(KindOf::KIND))))
}

/// The kind of an own controller.
#[derive(Debug)]
struct OwnKind<C>(KindOf<C>);

impl<C: ControllerKind> AnyKind<ControllerConfig> for OwnKind<C>
where
    C::Controller: 'static,
{
    fn info(&self) -> KindInfo {
        KindOf::<C>::describe()
    }

    fn values(&self, profile: Option<&str>) -> ControllerConfig {
        OwnController::new(KindOf::<C>::configuration(profile)).into()
    }

    fn keys(&self, value: &mut ControllerConfig, visitor: &mut dyn Visitor) {
        if let ControllerConfig::Own(own) = value
            && let Some(&before) = own.0.as_any().downcast_ref::<C>()
        {
            let mut after = before;
            after.keys(visitor);
            if after != before {
                *own = OwnController::new(after);
            }
        }
    }
}

/// Parameters of an own controller.
#[derive(Clone, Copy, Debug)]
pub struct OwnController(&'static dyn OwnConfig);

/// What [`ControllerKind`] says, as far as a pointer can say it.
trait OwnConfig: Debug + Send + Sync {
    fn kind(&self) -> &'static str;
    fn equals(&self, other: &dyn Any) -> bool;
    fn as_any(&self) -> &dyn Any;
    fn build(&self, stack: &StackConfig) -> Box<dyn CongestionControl>;
}

impl<C: ControllerKind> OwnConfig for C
where
    C::Controller: 'static,
{
    fn kind(&self) -> &'static str {
        C::KIND
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<C>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn build(&self, stack: &StackConfig) -> Box<dyn CongestionControl> {
        Box::new(ControllerKind::build(self, stack))
    }
}

impl OwnController {
    /// Parameters of a controller from outside this crate; they live as long as the program.
    pub fn new<C: ControllerKind>(config: C) -> Self
    where
        C::Controller: 'static,
    {
        Self(Box::leak(Box::new(config)))
    }

    pub(crate) fn kind(self) -> &'static str {
        self.0.kind()
    }

    pub(crate) fn build(self, stack: &StackConfig) -> Box<dyn CongestionControl> {
        self.0.build(stack)
    }
}

impl From<OwnController> for ControllerConfig {
    fn from(own: OwnController) -> Self {
        Self::Own(own)
    }
}

impl PartialEq for OwnController {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_any())
    }
}

/// A copy of a controller behind a pointer; every controller that can be cloned has it.
pub trait Duplicate {
    /// The copy.
    fn duplicate(&self) -> Box<dyn CongestionControl>;
}

impl<C: CongestionControl + Clone + 'static> Duplicate for C {
    fn duplicate(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Self {
        (**self).duplicate()
    }
}

//! The parameters of service flows and aggregates: where each stands in a file, its default, and where a value is from.
//!
//! Source: DOCSIS MULPI annex C by the table of TLVs; defaults from DOCS-IETF-QOS-MIB, White 2019 §2.3 and the
//! public ns-3 model of DOCSIS, as named with each. Deviations: none known.

use std::collections::BTreeMap;

use serde::Serialize;

/// A parameter of a service flow or of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are the names of the TLVs")]
pub enum Parameter {
    TrafficPriority,
    MaxSustainedRate,
    MaxTrafficBurst,
    MinReservedRate,
    PeakTrafficRate,
    Scheduling,
    GuaranteedGrantRate,
    GuaranteedGrantInterval,
    GuaranteedRequestInterval,
    ActivityDetectionDisable,
    NominalPollingInterval,
    UnsolicitedGrantSize,
    NominalGrantInterval,
    GrantsPerInterval,
    IpTosOverwrite,
    BufferMinimum,
    BufferTarget,
    BufferMaximum,
    AqmDisable,
    ClassicLatencyTarget,
    AqmAlgorithm,
    ImmediateMaxThreshold,
    ImmediateRangeExponent,
    LatencyHistogram,
    ClassicServiceClassName,
    LowLatencyServiceClassName,
    CouplingFactor,
    SchedulingWeight,
    QueueProtection,
    QueueProtectionLatencyThreshold,
    QueueProtectionScoreThreshold,
    QueueProtectionDrainRateExponent,
}

/// Form of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Bits per second, scaled by sub-TLV 41.
    Rate,
    Bytes,
    Microseconds,
    Number,
    Octets,
    Edges,
    Text,
}

/// Spelling of a parameter, and its default.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) parameter: Parameter,
    /// Its key in tables of a CMTS.
    pub(crate) key: &'static str,
    /// Path of types below a service flow or an aggregate.
    pub(crate) path: &'static [u8],
    pub(crate) form: Form,
    pub(crate) unit: &'static str,
    /// The default and where it is from.
    pub(crate) default: Option<(u64, &'static str)>,
}

macro_rules! about {
    ($($parameter:ident $key:literal $path:expr, $form:ident $unit:literal $default:expr;)*) => {
        [$(About {
            parameter: Parameter::$parameter,
            key: $key,
            path: &$path,
            form: Form::$form,
            unit: $unit,
            default: $default,
        }),*]
    };
}

const MIB: &str = "DOCS-IETF-QOS-MIB";
const NS3: &str = "the ns-3 model of DOCSIS";

/// Parameters of service flows.
pub(crate) static OF_FLOWS: [About; 24] = about! {
    TrafficPriority "traffic_priority" [7], Number "" Some((0, MIB));
    MaxSustainedRate "max_sustained_rate" [8], Rate "b/s" Some((0, MIB));
    MaxTrafficBurst "max_traffic_burst" [9], Bytes "B" Some((3044, MIB));
    MinReservedRate "min_reserved_rate" [10], Rate "b/s" Some((0, MIB));
    PeakTrafficRate "peak_rate" [27], Rate "b/s" Some((0, "none"));
    Scheduling "scheduling" [15], Number "" Some((2, "best effort"));
    GuaranteedGrantRate "ggr" [45], Rate "b/s" None;
    GuaranteedGrantInterval "ggi_us" [44], Microseconds "us" None;
    GuaranteedRequestInterval "gri_us" [46], Microseconds "us" None;
    ActivityDetectionDisable "activity_detection_disable" [49], Number "" None;
    NominalPollingInterval "polling_interval_us" [17], Microseconds "us" None;
    UnsolicitedGrantSize "grant_size" [19], Bytes "B" None;
    NominalGrantInterval "grant_interval_us" [20], Microseconds "us" None;
    GrantsPerInterval "grants_per_interval" [22], Number "" None;
    IpTosOverwrite "ip_tos_overwrite" [23], Octets "" None;
    BufferMinimum "buffer_minimum" [35, 1], Bytes "B" None;
    BufferTarget "buffer_target" [35, 2], Bytes "B" None;
    BufferMaximum "buffer_maximum" [35, 3], Bytes "B" None;
    AqmDisable "aqm_disable" [40, 1], Number "" Some((0, "enabled"));
    ClassicLatencyTarget "classic_latency_target_ms" [40, 2], Number "ms" Some((10, "White 2019 §2.3"));
    AqmAlgorithm "aqm_algorithm" [40, 3], Number "" Some((0, "default of the service flow"));
    ImmediateMaxThreshold "immediate_max_threshold_us" [40, 4], Microseconds "us" Some((1000, "White 2019 §2.3"));
    ImmediateRangeExponent "immediate_range_exponent" [40, 5], Number "" Some((19, NS3));
    LatencyHistogram "latency_histogram" [40, 6], Edges "0.01 ms" None;
};

/// Parameters of aggregates.
pub(crate) static OF_AGGREGATES: [About; 13] = about! {
    TrafficPriority "traffic_priority" [7], Number "" Some((0, MIB));
    MaxSustainedRate "max_sustained_rate" [8], Rate "b/s" Some((0, MIB));
    MaxTrafficBurst "max_traffic_burst" [9], Bytes "B" Some((3044, NS3));
    MinReservedRate "min_reserved_rate" [10], Rate "b/s" Some((0, MIB));
    PeakTrafficRate "peak_rate" [27], Rate "b/s" Some((0, "none"));
    ClassicServiceClassName "classic_scn" [42, 3], Text "" None;
    LowLatencyServiceClassName "low_latency_scn" [42, 4], Text "" None;
    CouplingFactor "coupling_factor" [42, 5], Number "tenths" Some((20, NS3));
    SchedulingWeight "scheduling_weight" [42, 6], Number "of 256" Some((230, NS3));
    QueueProtection "qp_enable" [42, 7], Number "" Some((1, NS3));
    QueueProtectionLatencyThreshold "qp_latency_threshold_us" [42, 8], Microseconds "us" None;
    QueueProtectionScoreThreshold "qp_score_threshold_us" [42, 9], Microseconds "us" Some((4000, NS3));
    QueueProtectionDrainRateExponent "qp_drain_rate_exponent" [42, 10], Number "" Some((19, NS3));
};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// A number, in the unit beside it.
    Number(u64),
    /// Octets or numbers.
    List(Vec<u16>),
    /// A text.
    Text(String),
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum Origin {
    /// The configuration file.
    File {
        /// Octet of its TLV.
        offset: usize,
        /// Path of types.
        path: String,
    },
    /// A table of the CMTS.
    Table {
        /// `aqp` or `service_class`.
        table: &'static str,
        /// Name of the entry.
        name: String,
        /// Key in it.
        key: String,
    },
    /// A default.
    Default {
        /// Why it is so.
        why: String,
    },
}

impl Origin {
    pub(crate) fn default_of(why: impl Into<String>) -> Self {
        Self::Default { why: why.into() }
    }
}

/// A value with its unit and where it is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leaf {
    /// The value.
    pub value: Setting,
    /// Its unit; empty without one.
    pub unit: &'static str,
    /// Origin of the value.
    pub origin: Origin,
}

/// Parameters that were said, or hold by default.
pub type Parameters = BTreeMap<Parameter, Leaf>;

/// Fills what is missing in `parameters` from `below`.
pub(crate) fn fill(parameters: &mut Parameters, below: &Parameters) {
    for (parameter, leaf) in below {
        parameters.entry(*parameter).or_insert_with(|| leaf.clone());
    }
}

/// Fills what is missing with defaults.
pub(crate) fn fill_defaults(parameters: &mut Parameters, about: &[About]) {
    for entry in about {
        if let Some((value, why)) = entry.default {
            parameters.entry(entry.parameter).or_insert_with(|| Leaf {
                value: Setting::Number(value),
                unit: entry.unit,
                origin: Origin::default_of(why),
            });
        }
    }
}

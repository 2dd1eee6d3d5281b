//! The two message integrity checks at the end of a CM configuration file, and the extended one.
//!
//! Source: DOCSIS MULPI annex D as the public encoder `docsis` computes them (MD5 for TLV 6; RFC 2104
//! HMAC-MD5 for TLV 7, over the TLVs of [`COVERED`], type by type); public lists of TLVs for the extended check.
//! Deviations: TLV 59 takes the place of 20 where 20 is absent (one secondary source); the public encoder leaves
//! it out, and a CMTS MIC without it is taken as right too. Of the extended check
//! only type 1 is computed, its order of bits is unconfirmed, and it never fails a file by itself.

use core::fmt;

use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest as _, Md5};
use serde::Serialize;

use crate::file::{File, Tlv, TooLong, Value};

/// TLV of the CM MIC.
pub(crate) const CM_MIC: u8 = 6;
/// TLV of the CMTS MIC.
pub(crate) const CMTS_MIC: u8 = 7;
/// Top-level TLVs that the CMTS MIC covers, in the order in which it does.
pub(crate) const COVERED: [u8; 21] = [1, 2, 3, 4, 17, 43, 6, 18, 19, 20, 22, 23, 24, 25, 28, 29, 26, 35, 36, 37, 40];
/// Octets of a shared secret that are used, as in the encoder `docsis`.
const SECRET: usize = 64;
/// Bit map, within TLV 43.6, of what the extended check covers.
const BIT_MAP: u8 = 2;
/// The extended digest itself, within TLV 43.6.
const EXPLICIT: u8 = 3;

/// The secret that CMTS and provisioning system share. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The secret in the content of a key file: without line ends behind it, at most 64 octets.
    pub fn new(content: &[u8]) -> Self {
        let end = content.iter().rposition(|octet| !b"\r\n".contains(octet)).map_or(0, |at| at + 1);
        Self(content[..end.min(SECRET)].to_vec())
    }

    fn hmac<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 16] {
        let mut hmac = Hmac::<Md5>::new_from_slice(&self.0).expect("a key of any length");
        for part in parts {
            hmac.update(part);
        }
        hmac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret(…)")
    }
}

/// Result of a digest in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Digest {
    /// There is none.
    Absent,
    /// It is there, but the secret was not given, or its algorithm is unknown here.
    Unchecked,
    /// It is right.
    Good,
    /// It is wrong.
    Bad,
}

/// Results of the digests of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Integrity {
    /// TLV 6.
    pub cm_mic: Digest,
    /// TLV 7.
    pub cmts_mic: Digest,
    /// TLV 43.6.
    pub extended: Digest,
}

/// Computes the digests of a file and compares.
pub fn check_integrity(file: &File, secret: Option<&Secret>) -> Integrity {
    let carried = last(file, CMTS_MIC).and_then(Tlv::value_octets);
    let mut cmts = verdict(carried, secret.map(|secret| cmts_mic(file, secret, 59)));
    if cmts == Digest::Bad {
        cmts = verdict(carried, secret.map(|secret| cmts_mic(file, secret, 20)));
    }
    let extended = match extension(file) {
        None => Digest::Absent,
        Some(extension) if !extension.is_known() => Digest::Unchecked,
        Some(extension) => {
            let ours = secret.map(|secret| extended_mic(file, &extension, secret));
            match extension.explicit {
                Some(explicit) => verdict(Some(explicit), ours),
                // Then TLV 7 carries the extended digest in place of the classic one.
                None => match verdict(carried, ours) {
                    Digest::Good => {
                        cmts = Digest::Good;
                        Digest::Good
                    }
                    Digest::Bad if cmts == Digest::Good => Digest::Unchecked,
                    other => other,
                },
            }
        }
    };
    Integrity {
        cm_mic: verdict(last(file, CM_MIC).and_then(Tlv::value_octets), Some(cm_mic(file))),
        cmts_mic: cmts,
        extended,
    }
}

/// Removes the MICs, puts new ones at the end, and fills the file up to a multiple of four octets.
///
/// Without a secret there is no CMTS MIC. An explicit extended digest of a known kind is computed too, as long
/// as it does not cover the MICs, which cover it.
///
/// # Errors
/// If a value is too long for its length.
pub fn seal(file: &mut File, secret: Option<&Secret>) -> Result<(), TooLong> {
    file.tlvs.retain(|tlv| ![CM_MIC, CMTS_MIC].contains(&tlv.code));
    if let Some(secret) = secret {
        fill_extended(file, secret);
    }
    file.tlvs.push(Tlv::octets(CM_MIC, cm_mic(file)));
    if let Some(secret) = secret {
        file.tlvs.push(Tlv::octets(CMTS_MIC, cmts_mic(file, secret, 59)));
    }
    file.complete();
    file.octets().map(|_| ())
}

/// Returns true if the extended check covers a top-level type.
pub(crate) fn extended_covers(file: &File, code: u8) -> bool {
    extension(file).is_some_and(|extension| extension.covers(code))
}

fn last(file: &File, code: u8) -> Option<&Tlv> {
    file.tlvs.iter().rev().find(|tlv| tlv.code == code)
}

fn verdict(carried: Option<&[u8]>, ours: Option<[u8; 16]>) -> Digest {
    match (carried, ours) {
        (None, _) => Digest::Absent,
        (Some(_), None) => Digest::Unchecked,
        (Some(carried), Some(ours)) if carried == ours => Digest::Good,
        _ => Digest::Bad,
    }
}

/// MD5 over all settings as they stand, without the MICs.
fn cm_mic(file: &File) -> [u8; 16] {
    let mut md5 = Md5::new();
    for tlv in file.tlvs.iter().filter(|tlv| ![CM_MIC, CMTS_MIC].contains(&tlv.code)) {
        md5.update(tlv.whole());
    }
    md5.finalize().into()
}

/// HMAC-MD5 over the covered settings, type by type; `instead` takes the place of 20 where that is absent.
fn cmts_mic(file: &File, secret: &Secret, instead: u8) -> [u8; 16] {
    let place_of_20 = if file.all(20).next().is_some() { 20 } else { instead };
    let covered: Vec<Vec<u8>> = COVERED
        .iter()
        .map(|code| if *code == 20 { place_of_20 } else { *code })
        .flat_map(|code| file.all(code).map(Tlv::whole))
        .collect();
    secret.hmac(covered.iter().map(Vec::as_slice))
}

/// TLV 43.6 of the general extension.
struct Extension<'a> {
    algorithm: Option<u64>,
    bit_map: &'a [u8],
    explicit: Option<&'a [u8]>,
}

impl Extension<'_> {
    /// HMAC-MD5 is type 1.
    fn is_known(&self) -> bool {
        self.algorithm == Some(1)
    }

    fn covers(&self, code: u8) -> bool {
        let octet = self.bit_map.get(usize::from(code / 8)).copied().unwrap_or(0);
        octet >> (7 - code % 8) & 1 == 1
    }
}

fn extension(file: &File) -> Option<Extension<'_>> {
    let tlv = file.all(43).find_map(|general| general.last(6))?;
    let octets = |code| tlv.last(code).and_then(Tlv::value_octets);
    Some(Extension {
        algorithm: tlv.last(1).and_then(Tlv::number),
        bit_map: octets(BIT_MAP).unwrap_or(&[]),
        explicit: octets(EXPLICIT).filter(|digest| !digest.is_empty()),
    })
}

fn extended_mic(file: &File, extension: &Extension<'_>, secret: &Secret) -> [u8; 16] {
    let mut covered = file.clone();
    covered.tlvs.retain(|tlv| tlv.code != CMTS_MIC && extension.covers(tlv.code));
    set_explicit(&mut covered, None);
    let octets = covered.tlvs.iter().map(Tlv::whole).collect::<Vec<_>>();
    secret.hmac(octets.iter().map(Vec::as_slice))
}

fn fill_extended(file: &mut File, secret: &Secret) {
    let Some(extension) = extension(file) else {
        return;
    };
    let is_circular = extension.covers(CM_MIC) || extension.covers(CMTS_MIC);
    if extension.is_known() && extension.explicit.is_some() && !is_circular {
        let digest = extended_mic(file, &extension, secret);
        set_explicit(file, Some(digest));
    }
}

/// Writes the explicit extended digest, or zeros in its place.
fn set_explicit(file: &mut File, digest: Option<[u8; 16]>) {
    for general in file.tlvs.iter_mut().filter(|tlv| tlv.code == 43) {
        let Value::Tlvs(inside) = &mut general.value else {
            continue;
        };
        for extension in inside.iter_mut().filter(|tlv| tlv.code == 6) {
            let Value::Tlvs(inside) = &mut extension.value else {
                continue;
            };
            for explicit in inside.iter_mut().filter(|tlv| tlv.code == EXPLICIT) {
                if let Value::Octets(octets) = &mut explicit.value {
                    match digest {
                        Some(digest) => *octets = digest.to_vec(),
                        None => octets.fill(0),
                    }
                }
            }
        }
    }
}

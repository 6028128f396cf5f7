//! What a person should not publish although a server would.

use domain::base::iana::SvcParamKey;
use domain::rdata::ZoneRecordData;
use domain::rdata::svcb::SvcParams;
use domain::rdata::svcb::value::AllValues;

use super::{Rdata, RdataError};
use crate::{Name, Rtype};

/// The first rule the data breaks.
pub(super) fn check(data: &Rdata) -> Result<(), RdataError> {
    if let Some(target) = data.target() {
        check_target(data.rtype(), &target)?;
    }
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the types with rules of their own are listed"
    )]
    match data.typed() {
        ZoneRecordData::Aaaa(aaaa) if aaaa.addr().to_ipv4_mapped().is_some() => {
            rule("an IPv4-mapped address belongs into an A record")
        }
        ZoneRecordData::Srv(srv) if srv.port() == 0 && !srv.target().is_root() => {
            rule("port 0 is only right for a service that is not offered, with target \".\"")
        }
        ZoneRecordData::Caa(caa) => check_caa(caa.flags().bits(), caa.tag().compose_len()),
        ZoneRecordData::Tlsa(tlsa) => {
            let digest = match tlsa.matching_type().to_int() {
                1 => Some(32),
                2 => Some(64),
                _ => None,
            };
            check_length(
                "the TLSA certificate association",
                tlsa.data().len(),
                digest,
            )
        }
        ZoneRecordData::Sshfp(sshfp) => {
            let digest = match sshfp.fingerprint_type().to_int() {
                1 => Some(20),
                2 => Some(32),
                _ => None,
            };
            check_length("the SSHFP fingerprint", sshfp.fingerprint().len(), digest)
        }
        ZoneRecordData::Ds(ds) => check_length(
            "the DS digest",
            ds.digest().len(),
            digest_octets(ds.digest_type().to_int()),
        ),
        ZoneRecordData::Cds(cds) => check_length(
            "the CDS digest",
            cds.digest().len(),
            digest_octets(cds.digest_type().to_int()),
        ),
        ZoneRecordData::Dnskey(key) => check_length("the DNSKEY", key.public_key().len(), None),
        ZoneRecordData::Cdnskey(key) => check_length("the CDNSKEY", key.public_key().len(), None),
        ZoneRecordData::Openpgpkey(key) => check_length("the OpenPGP key", key.key().len(), None),
        ZoneRecordData::Svcb(svcb) => check_service(svcb.priority(), svcb.params()),
        ZoneRecordData::Https(https) => check_service(https.priority(), https.params()),
        _ => Ok(()),
    }
}

fn rule(message: impl Into<String>) -> Result<(), RdataError> {
    Err(RdataError::Rule(message.into()))
}

fn check_target(rtype: Rtype, target: &Name) -> Result<(), RdataError> {
    if target.spells_address() {
        return rule(format!("{rtype} points at a name, not at an address"));
    }
    match rtype {
        Rtype::NS if target.is_root() => rule("NS must name a server, not the root"),
        Rtype::NS | Rtype::MX | Rtype::SRV if !target.is_host() || target.is_wildcard() => rule(
            format!("{rtype} must point at a host name: letters, digits and hyphens"),
        ),
        _ => Ok(()),
    }
}

/// RFC 8659 §4.1: one flag is defined, the others are reserved. That a tag is
/// letters and digits the library sees to.
fn check_caa(flags: u8, tag_octets: u16) -> Result<(), RdataError> {
    const EMPTY: u16 = 1;
    match (flags, tag_octets) {
        (0 | 128, EMPTY) => {
            rule("a CAA tag must not be empty; common ones are issue, issuewild, iodef")
        }
        (0 | 128, _) => Ok(()),
        _ => rule(format!("CAA flags are 0 or 128 (critical), not {flags}")),
    }
}

fn check_length(what: &str, octets: usize, right: Option<usize>) -> Result<(), RdataError> {
    match right {
        Some(right) if right != octets => rule(format!(
            "{what} of this type has {right} octets, not {octets}"
        )),
        None if octets == 0 => rule(format!("{what} must not be empty")),
        Some(_) | None => Ok(()),
    }
}

fn digest_octets(digest_type: u8) -> Option<usize> {
    match digest_type {
        1 => Some(20),
        2 => Some(32),
        4 => Some(48),
        _ => None,
    }
}

/// RFC 9460 §2.4.2 and §8: an alias has a target and nothing else; what a
/// service calls mandatory is there.
fn check_service(priority: u16, params: &SvcParams<&[u8]>) -> Result<(), RdataError> {
    if priority == 0 && !params.is_empty() {
        return rule("priority 0 makes it an alias, which has no parameters");
    }
    let keys: Vec<SvcParamKey> = params.iter_raw().map(|param| param.key()).collect();
    for (key, value) in keys.iter().zip(params.iter_all()) {
        match value {
            Ok(value) => check_param(&value, &keys)?,
            Err(_) => return rule(format!("{key} has a value of the wrong form")),
        }
    }
    Ok(())
}

fn check_param(value: &AllValues<&[u8]>, keys: &[SvcParamKey]) -> Result<(), RdataError> {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the parameters with rules of their own are listed"
    )]
    match value {
        AllValues::Mandatory(list) => match list.iter().find(|key| !keys.contains(key)) {
            Some(missing) => rule(format!("{missing} is mandatory, but not there")),
            None => Ok(()),
        },
        AllValues::Alpn(list) if list.iter().any(<[u8]>::is_empty) => {
            rule("alpn lists a protocol without a name")
        }
        AllValues::Port(port) if port.port() == 0 => rule("nothing can be reached at port 0"),
        _ => Ok(()),
    }
}

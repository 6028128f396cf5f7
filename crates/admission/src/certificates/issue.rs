//! What a step makes of what is held.

use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose};
use x509::{Authority, KeyPair, Leaf};

use super::{Believed, Facts, Found, Holding, Phase, Step};

/// Where keys come from.
pub type Keys<'a> = &'a mut dyn FnMut() -> Result<KeyPair, rcgen::Error>;

/// A key from the system's chance: ECDSA on P-256, which every API server speaks.
pub fn fresh_key() -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate()
}

/// What is held after a step; nothing if the step changes nothing, or is not one from there.
pub fn carry_out(
    step: &Step,
    found: Found,
    facts: &Facts<'_>,
    keys: Keys<'_>,
) -> Result<Option<Holding>, rcgen::Error> {
    let holding = match found {
        Found::Whole(holding) => Some(*holding),
        Found::Missing | Found::Damaged(_) => None,
    };
    Ok(match (step, holding) {
        (Step::Replace { .. }, _) => {
            let authority = authority(facts, keys)?;
            let leaf = leaf(&authority, facts, keys)?;
            let phase = Phase::Steady;
            Some(Holding {
                authority,
                leaf,
                phase,
            })
        }
        (Step::Renew { .. }, Some(holding)) => {
            let leaf = leaf(&holding.authority, facts, keys)?;
            Some(Holding { leaf, ..holding })
        }
        (Step::Announce, Some(holding)) => {
            let next = Box::new(authority(facts, keys)?);
            let phase = Phase::Announced { next };
            Some(Holding { phase, ..holding })
        }
        (Step::Switch, Some(holding)) => match holding.phase {
            Phase::Announced { next } => {
                let leaf = leaf(&next, facts, keys)?;
                let previous = Believed {
                    pem: holding.authority.pem,
                    valid: holding.authority.valid,
                };
                Some(Holding {
                    authority: *next,
                    leaf,
                    phase: Phase::Switched { previous },
                })
            }
            Phase::Steady | Phase::Switched { .. } => None,
        },
        (Step::Forget, Some(holding)) => {
            let phase = Phase::Steady;
            Some(Holding { phase, ..holding })
        }
        (Step::Rest(_), _)
        | (Step::Renew { .. } | Step::Announce | Step::Switch | Step::Forget, None) => None,
    })
}

fn authority(facts: &Facts<'_>, keys: Keys<'_>) -> Result<Authority, rcgen::Error> {
    let key = keys()?;
    // The second of its birth keeps two authorities apart where certificates are listed by name.
    let name = format!("zonewright-webhook-ca@{}", facts.now.as_second());
    let valid = facts.terms.lasting(facts.now, facts.terms.authority_life);
    let pem = Authority::create(&name, &key, valid)?;
    Ok(Authority::parse(pem, &key.serialize_pem()).expect("it was made just now"))
}

fn leaf(authority: &Authority, facts: &Facts<'_>, keys: Keys<'_>) -> Result<Leaf, rcgen::Error> {
    let names: Vec<String> = facts.names.iter().cloned().collect();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = DistinguishedName::new();
    let subject = &mut params.distinguished_name;
    subject.push(DnType::CommonName, "zonewright-webhook");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let valid = facts.terms.lasting(facts.now, facts.terms.leaf_life);
    authority.issue(params, &keys()?, valid)
}

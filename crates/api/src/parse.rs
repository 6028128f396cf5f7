//! From a spec to checked `dns` types, or to a list of problems.
//!
//! One module per kind, each with a function `parse`. Admission, `zonewright check` and the
//! controllers call the same functions, so they cannot disagree. Every problem is reported, each
//! with its field path; where a part can stand alone, it comes back beside the problems of the rest.
//! What depends on other objects is not judged here.

mod collect;
pub mod dns_health_check_probe;
pub mod dns_policy;
pub mod dns_record;
pub mod domain_verification;
pub mod fqdn;
pub mod health_check;
pub mod object_name;
pub mod place;
pub mod provider_secret;
pub mod record;
pub mod routing;
pub mod service_record;
pub mod target;
pub mod zone;
pub mod zone_slice;

use dns::Rtype;

use crate::problem::FieldPath;
use collect::Collect;

/// Where kubectl puts an object that names no namespace.
const DEFAULT_NAMESPACE: &str = "default";

/// A record type as manifests spell it, in any case.
fn record_type(text: &str, field: &FieldPath, problems: &mut Collect) -> Option<Rtype> {
    let rule = "must be a record type: a mnemonic such as A, or TYPE and a number up to 65535";
    problems.check(field, text, text.parse().map_err(|_: dns::RtypeError| rule))
}

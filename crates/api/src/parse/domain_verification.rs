//! From the spec of a `DomainVerification` to the domain that is claimed (V9).
//!
//! Whether the domain is a public suffix or a reserved one is judged where the lists are.

use dns::Name;

use super::collect::Collect;
use super::fqdn;
use crate::domain_verification as object;
use crate::problem::{FieldPath, Problem};

/// What a `DomainVerification` claims.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DomainVerification {
    /// The domain that is claimed.
    pub domain: Name,
}

/// Reads a `DomainVerification`, or names everything that is wrong with it.
pub fn parse(claim: &object::DomainVerification) -> Result<DomainVerification, Vec<Problem>> {
    let spec = &claim.spec;
    let field = FieldPath::spec().field("domain");
    let mut problems = Collect::default();
    let domain = problems.check(&field, &spec.domain, fqdn::parse(&spec.domain));
    if domain.as_ref().is_some_and(Name::is_wildcard) {
        // A proven domain covers what is below it, so a wildcard would add nothing (V2).
        problems.refuse(&field, "must be a domain, not a wildcard", &spec.domain);
    }
    problems.finish(domain.map(|domain| DomainVerification { domain }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain_verification::DomainVerificationSpec;

    fn check(domain: &str) -> Result<String, Vec<Problem>> {
        let spec = DomainVerificationSpec {
            domain: domain.to_owned(),
        };
        let claim = object::DomainVerification::new("verification", spec);
        parse(&claim).map(|claim| claim.domain.to_string())
    }

    #[test]
    fn a_domain_is_read_in_canonical_form() {
        // V9: case, final dot and IDN tricks compare canonical.
        let cases = [
            ("mydomain.com", "mydomain.com."),
            ("MyDomain.COM.", "mydomain.com."),
            ("bücher.example", "xn--bcher-kva.example."),
            ("xn--bcher-kva.example", "xn--bcher-kva.example."),
            ("deep.below.example.com", "deep.below.example.com."),
        ];
        for (domain, name) in cases {
            assert_eq!(check(domain), Ok(name.to_owned()), "{domain}");
        }
    }

    #[test]
    fn anything_else_is_refused_by_one_problem() {
        let cases = [
            "",
            ".",
            "*",
            "*.example.com",
            "localhost",
            "192.0.2.1",
            "2001:db8::1",
            "192.0.2.256",
            "a..b.com",
            "a_b.com",
            "-a.com",
            "a b.com",
            "example.com/",
            "pаypal.com",
            "xn--.com",
        ];
        for domain in cases {
            let problems = check(domain).unwrap_err();
            assert_eq!(problems.len(), 1, "{domain:?}: {problems:?}");
            assert_eq!(problems[0].field, "spec.domain");
        }
    }
}

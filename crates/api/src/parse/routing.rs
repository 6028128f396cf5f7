//! From the `routing` of a Record, or of an entry of a zone, to the member of a routed set that it is (N6), and back.

use dns::routing::{GeoCode, Membership, Routing, SetIdentifier, Weight};

use super::collect::Collect;
use crate::problem::{FieldPath, Problem};
use crate::routing::Routing as Spec;

/// Reads the routing at a field: a member of a routed set, or all that is wrong with it.
pub fn parse(spec: &Spec, at: &FieldPath) -> Result<Membership, Vec<Problem>> {
    let mut problems = Collect::default();
    let membership = membership(spec, at, &mut problems);
    problems.finish(membership)
}

pub(super) fn membership(
    spec: &Spec,
    at: &FieldPath,
    problems: &mut Collect,
) -> Option<Membership> {
    let text = &spec.set_identifier;
    let identifier = text.parse::<SetIdentifier>();
    let identifier = problems.check(&at.field("setIdentifier"), text, identifier);
    let weight = spec
        .weight
        .and_then(|weight| problems.check(&at.field("weight"), weight, Weight::new(weight)));
    let geo = spec
        .geo
        .as_deref()
        .and_then(|text| problems.check(&at.field("geo"), text, place_of(text)));
    Some(Membership {
        identifier: identifier?,
        routing: Routing { weight, geo },
    })
}

/// Records are answered by our own name server, which knows no provider's regions.
fn place_of(text: &str) -> Result<GeoCode, String> {
    match text.parse::<GeoCode>().map_err(|rule| rule.to_string())? {
        GeoCode::Region(_) => {
            Err("is a region of one provider; use a country or a continent".into())
        }
        geo @ (GeoCode::Default | GeoCode::Continent(_) | GeoCode::Country(_)) => Ok(geo),
    }
}

/// Canonical: what is read from it is the same again.
impl From<&Membership> for Spec {
    fn from(membership: &Membership) -> Spec {
        let Routing { weight, geo } = &membership.routing;
        Spec {
            set_identifier: membership.identifier.to_string(),
            weight: weight.map(|weight| weight.get().into()),
            geo: geo.as_ref().map(ToString::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N6.
    #[test]
    fn routing_is_read_back_as_it_was_written() {
        for text in [
            r#"{"setIdentifier":"eu-1","weight":120,"geo":"GEO-EU"}"#,
            r#"{"setIdentifier":"a \"quoted\" one","weight":0}"#,
            r#"{"setIdentifier":"rest","geo":"*"}"#,
            r#"{"setIdentifier":"plain"}"#,
        ] {
            let membership: Membership = text.parse().unwrap();
            let spec = Spec::from(&membership);
            let at = FieldPath::spec().field("routing");
            assert_eq!(parse(&spec, &at), Ok(membership));
            // The text of a line is that of the object.
            assert_eq!(serde_json::to_string(&spec).unwrap(), text);
        }
    }
}

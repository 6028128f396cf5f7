//! What objects are called, and which of two came first.

use std::fmt;

use api::ZoneKey;
use jiff::Timestamp;
use kube::core::ObjectMeta;

/// The namespace and name of an object.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ObjectKey {
    /// The object's namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
}

/// Which Record.
pub type RecordKey = ObjectKey;

/// Which DNSRecord.
pub type DnsRecordKey = ObjectKey;

/// Which DNSHealthCheckProbe.
pub type ProbeKey = ObjectKey;

/// Which Secret.
pub type SecretKey = ObjectKey;

/// Which DNSPolicy.
pub type PolicyKey = ObjectKey;

/// Which Gateway.
pub type GatewayKey = ObjectKey;

impl ObjectKey {
    /// An object by namespace and name.
    pub fn new(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// An object that passes are made over.
///
/// Zones come first: what they say is waited for by everyone else.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Key {
    /// A Zone.
    Zone(ZoneKey),
    /// A Record.
    Record(RecordKey),
}

impl Key {
    /// The namespace of the object.
    pub fn namespace(&self) -> &str {
        match self {
            Key::Zone(key) => &key.namespace,
            Key::Record(key) => &key.namespace,
        }
    }

    /// The name of the object.
    pub fn name(&self) -> &str {
        match self {
            Key::Zone(key) => &key.name,
            Key::Record(key) => &key.name,
        }
    }

    /// The kind of the object.
    pub fn kind(&self) -> &'static str {
        match self {
            Key::Zone(_) => "Zone",
            Key::Record(_) => "Record",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind(), self.namespace(), self.name())
    }
}

/// When an object was created. The lesser is the older; of two created in one second the uid decides, so that
/// everybody decides alike.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Age {
    created: Timestamp,
    uid: String,
}

impl Age {
    /// The age of an object; one without a date is younger than all others.
    pub fn of(object: &ObjectMeta) -> Age {
        let created = object.creation_timestamp.as_ref();
        Age {
            created: created.map_or(Timestamp::MAX, |time| time.0),
            uid: object.uid.clone().unwrap_or_default(),
        }
    }

    /// The uid of the object.
    pub fn uid(&self) -> &str {
        &self.uid
    }
}

/// The parent that an object's label and annotation are to name (Z3, R3).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Label(pub Option<ZoneKey>);

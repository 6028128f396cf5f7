//! The schema of `metadata`, which is the same for all kinds.

use std::sync::LazyLock;

use crate::schema::{ListKind, MapKind, Merge, Schema, Type};

/// How the lists and maps in `metadata` merge.
pub(crate) fn object_meta() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(build);
    &SCHEMA
}

/// What `apiVersion` and `kind` are.
pub(super) fn text() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| of(Type::String));
    &SCHEMA
}

fn build() -> Schema {
    let text_map = || Schema {
        additional: Some(Box::new(of(Type::String))),
        ..of(Type::Object)
    };
    let managed_fields = Schema {
        items: Some(Box::new(of(Type::Object))),
        ..of(Type::Array)
    };
    object([
        ("annotations", text_map()),
        ("creationTimestamp", time()),
        ("deletionGracePeriodSeconds", of(Type::Integer)),
        ("deletionTimestamp", time()),
        ("finalizers", finalizers()),
        ("generateName", of(Type::String)),
        ("generation", of(Type::Integer)),
        ("labels", text_map()),
        ("managedFields", managed_fields),
        ("name", of(Type::String)),
        ("namespace", of(Type::String)),
        ("ownerReferences", owner_references()),
        ("resourceVersion", of(Type::String)),
        ("selfLink", of(Type::String)),
        ("uid", of(Type::String)),
    ])
}

fn finalizers() -> Schema {
    Schema {
        items: Some(Box::new(of(Type::String))),
        list: ListKind::Set,
        merge: Some(Merge {
            key: None,
            retain_keys: false,
        }),
        ..of(Type::Array)
    }
}

fn owner_references() -> Schema {
    let reference = object([
        ("apiVersion", of(Type::String)),
        ("blockOwnerDeletion", of(Type::Boolean)),
        ("controller", of(Type::Boolean)),
        ("kind", of(Type::String)),
        ("name", of(Type::String)),
        ("uid", of(Type::String)),
    ]);
    Schema {
        items: Some(Box::new(Schema {
            map: MapKind::Atomic,
            ..reference
        })),
        list: ListKind::Map(vec!["uid".to_owned()]),
        merge: Some(Merge {
            key: Some("uid".to_owned()),
            retain_keys: false,
        }),
        ..of(Type::Array)
    }
}

fn object<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    let properties = fields
        .map(|(name, schema)| (name.to_owned(), schema))
        .into();
    Schema {
        properties,
        ..of(Type::Object)
    }
}

/// A text with a format is any scalar to those who merge.
fn time() -> Schema {
    Schema {
        any_scalar: true,
        ..of(Type::String)
    }
}

fn of(kind: Type) -> Schema {
    Schema {
        kind: Some(kind),
        ..Schema::default()
    }
}

//! The schema of `metadata`, which is the same for all kinds.

use std::sync::LazyLock;

use crate::schema::{ListKind, MapKind, Merge, Schema, Type};

/// How the lists and maps in `metadata` merge.
pub(crate) fn object_meta() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(build);
    &SCHEMA
}

fn build() -> Schema {
    let text_map = || Schema {
        additional: Some(Box::new(of(Type::String))),
        ..of(Type::Object)
    };
    let finalizers = Schema {
        items: Some(Box::new(of(Type::String))),
        list: ListKind::Set,
        merge: Some(Merge {
            key: None,
            retain_keys: false,
        }),
        ..of(Type::Array)
    };
    let owner_references = Schema {
        items: Some(Box::new(Schema {
            map: MapKind::Atomic,
            ..of(Type::Object)
        })),
        list: ListKind::Map(vec!["uid".to_owned()]),
        merge: Some(Merge {
            key: Some("uid".to_owned()),
            retain_keys: false,
        }),
        ..of(Type::Array)
    };
    let fields = [
        ("annotations", text_map()),
        ("labels", text_map()),
        ("finalizers", finalizers),
        ("ownerReferences", owner_references),
        ("managedFields", of(Type::Array)),
    ];
    let properties = fields
        .map(|(name, schema)| (name.to_owned(), schema))
        .into();
    Schema {
        properties,
        ..of(Type::Object)
    }
}

fn of(kind: Type) -> Schema {
    Schema {
        kind: Some(kind),
        ..Schema::default()
    }
}

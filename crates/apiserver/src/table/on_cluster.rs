//! The same columns, asked of the real API.

use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};

use super::tests::{gadget, no_cells};
use super::{IncludeObject, Tabulator, fixtures};
use crate::media_type::MetaVersion;
use crate::object::ObjectExt;
use fixtures::Question;

const GROUP: &str = "tables.example.org";

/// Every column of the unit tests.
const COLUMNS: &[(&str, &str)] = &[
    ("string", ".spec.color"),
    ("integer", ".spec.color"),
    ("integer", ".spec.size"),
    ("string", ".spec.size"),
    ("number", ".spec.size"),
    ("number", ".spec.f"),
    ("number", ".spec.whole"),
    ("number", ".spec.color"),
    ("integer", ".spec.f"),
    ("string", ".spec.f"),
    ("string", ".spec.big"),
    ("integer", ".spec.big"),
    ("string", ".spec.small"),
    ("boolean", ".spec.lit"),
    ("boolean", ".spec.color"),
    ("string", ".spec.lit"),
    ("string", ".spec.missing.at.all"),
    ("integer", ".spec.nul"),
    ("string", ".spec.empty"),
    ("string", ".spec.map"),
    ("date", ".spec.when"),
    ("date", ".metadata.creationTimestamp"),
    ("date", ".spec.future"),
    ("date", ".spec.color"),
    ("date", ".spec.loose"),
    ("date", ".spec.empty"),
    ("date", ".spec.size"),
    ("date", ".spec.never"),
    ("string", ".spec.list"),
    ("string", ".spec.list[*]"),
    ("string", ".spec.list[1]"),
    ("string", ".spec.list[-1]"),
    ("string", ".spec.list[7]"),
    ("string", ".spec.list[-7]"),
    ("string", ".spec.list[1:]"),
    ("string", ".spec.list[:1]"),
    ("string", ".spec.list[1:9]"),
    ("string", ".spec.list[2:1]"),
    ("string", ".spec.list[1:1]"),
    ("string", ".spec.list[2,0]"),
    ("string", ".spec.list[::2]"),
    ("string", ".spec.list[::0]"),
    ("string", ".spec.none[*]"),
    ("string", ".spec.color[0]"),
    ("string", ".spec.color.x"),
    ("integer", ".status.conditions[?(@.n>3)].n"),
    ("integer", ".status.conditions[?(@.n>=3)].n"),
    ("integer", ".status.conditions[?(@.n<5)].n"),
    ("integer", ".status.conditions[?(@.n<=2)].n"),
    ("string", ".status.conditions[?(@.n>1.5)].type"),
    ("string", ".spec.map[?(@.a==1)].b"),
    ("string", ".status.conditions[?(@.n=>1)].type"),
    ("string", r".metadata.labels['a\.b/c']"),
    ("string", r".metadata.labels.a\.b/c"),
    ("string", ".metadata.labels['a.b/c']"),
    ("string", "..color"),
    ("string", ".spec.one.*"),
    ("string", ".kind"),
    ("string", "."),
    ("string", ".spec.color} and {.spec.size"),
    ("string", ".spec range"),
    ("string", ".spec.nul"),
    ("string", ".spec.tiny"),
    ("string", ".spec.list[9:9,0]"),
    ("string", ".spec.list[2:1,0]"),
    ("integer", ".spec.rows[?(@.l[0]=='p')].n"),
    ("integer", ".spec.rows[?(@.l[*]=='p')].n"),
    ("string", ".spec.list[]"),
    ("string", ".spec.list[-1:]"),
    ("string", ".spec.list['0']"),
    ("string", "..type"),
    ("string", ".status.conditions[?(@.b<true)].type"),
    ("string", ".status.conditions[?(@.n==\"3\")].type"),
    ("string", ".status.conditions[?(@.map==1)].type"),
    ("string", ".status.conditions[?(@)].type"),
    ("string", ".spec['color']"),
    ("string", ".spec.map['a','b']"),
    ("string", ".spec.none"),
    ("string", ".spec.none[0]"),
    ("string", ".spec.nul[0]"),
    ("string", ".spec.nul.x"),
    ("string", ".spec.nul[?(@.x==1)]"),
];

#[tokio::test]
async fn every_cell_is_the_real_one() {
    let plane = control_plane::shared().await;
    let client = plane.client(Identity::Admin);
    let definition = fixtures::gadget_definition(GROUP, COLUMNS);
    plane
        .install(std::slice::from_ref(&definition))
        .await
        .unwrap();
    let namespace = testkit::namespace(&client, "tables").await.unwrap();

    let path = format!("/apis/{GROUP}/v1/namespaces/{namespace}/gadgets");
    let mut object = gadget();
    object.insert("apiVersion".to_owned(), format!("{GROUP}/v1").into());
    object
        .metadata_mut()
        .retain(|field, _| field == "name" || field == "labels");
    let body = Value::Object(object).to_string();
    let create = Question {
        method: "POST",
        body: &body,
        ..Question::get(&path, "")
    };
    let (code, created) = create.ask_json(&client).await;
    assert_eq!(code, 201, "{created}");

    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let (_, mut real) = Question::get(&path, accept).ask_json(&client).await;
    let resource = &fixtures::of_definition(&definition)[0];
    let tabulator = Tabulator::new(
        resource,
        &no_cells,
        jiff::Timestamp::now(),
        IncludeObject::Metadata,
        MetaVersion::V1,
    );
    let created = created.as_object().unwrap();
    let mut ours = tabulator.list([created], &real["metadata"]);
    for (index, (kind, path)) in COLUMNS.iter().enumerate() {
        let cell = |table: &Value| table["rows"][0]["cells"][index + 1].clone();
        // The seconds since it was made are not the same seconds.
        if *path != ".metadata.creationTimestamp" {
            assert_eq!(cell(&ours), cell(&real), "{kind} {path}");
        }
    }
    for table in [&mut ours, &mut real] {
        table["rows"][0]["cells"] = json!(null);
    }
    assert_eq!(ours, real);
}

#[tokio::test]
async fn what_a_row_holds_is_refused_in_the_real_words() {
    let client = control_plane::shared().await.client(Identity::Admin);
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let path = "/api/v1/namespaces?includeObject=Foo";
    let (code, real) = Question::get(path, accept).ask_json(&client).await;
    let ours = IncludeObject::parse("Foo").unwrap_err();
    assert_eq!((code, &real["message"]), (ours.code, &json!(ours.message)));
}

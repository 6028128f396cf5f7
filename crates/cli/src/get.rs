//! `zonewright get`: objects as the API lists them, or zones as a tree.
//!
//! Tables are the server's own (Accept: Table): columns and cells are decided where the kinds are defined.

mod table;
mod tree;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::Output;
use crate::args::get::Get;
use crate::client::{self, Cluster};
use crate::kind::Kind;
use crate::output;
use table::{Layout, Table};
use tree::{Drawing, Forest};

/// Asks the API for tables instead of objects.
const AS_TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const AS_OBJECTS: &str = "application/json";

/// Shows what is asked for.
pub(crate) fn run(
    get: &Get,
    kubeconfig: Option<&Path>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    client::block_on(async {
        let cluster = Cluster::connect(kubeconfig).await?;
        let listing = Listing::new(get, &cluster);
        match (output, get.tree) {
            (Output::Json, false) => listing.objects(&get.kinds()).await,
            (Output::Json, true) => listing.objects(&tree_kinds().each_ref()).await,
            (Output::Text, false) => listing.tables(&get.kinds()).await,
            (Output::Text, true) => listing.tree().await,
        }
    })
}

/// The kinds that a tree is made of.
fn tree_kinds() -> [Kind; 2] {
    [Kind::of::<api::Zone>(), Kind::of::<api::Record>()]
}

/// Where to look.
struct Listing<'a> {
    cluster: &'a Cluster,
    /// Nothing: everywhere.
    namespace: Option<&'a str>,
}

impl<'a> Listing<'a> {
    fn new(get: &'a Get, cluster: &'a Cluster) -> Listing<'a> {
        let one = get
            .namespace
            .as_deref()
            .unwrap_or_else(|| cluster.namespace());
        let namespace = (!get.all_namespaces).then_some(one);
        Listing { cluster, namespace }
    }

    /// A table for every kind. One that cannot be had does not keep the others back.
    async fn tables(&self, kinds: &[&Kind]) -> anyhow::Result<ExitCode> {
        let (mut text, mut code) = (String::new(), ExitCode::SUCCESS);
        for kind in kinds {
            match self.pages(kind, AS_TABLE).await {
                Ok(pages) => {
                    let layout = Layout {
                        kind: (kinds.len() > 1).then_some(kind),
                        namespace: self.namespace.is_none(),
                    };
                    self.append(&Table::read(pages, layout)?, kind, &mut text);
                }
                Err(error) if kinds.len() == 1 => return Err(error),
                Err(error) => {
                    eprintln!("error: {error:#}");
                    code = ExitCode::FAILURE;
                }
            }
        }
        output::print(&text)?;
        Ok(code)
    }

    fn append(&self, table: &Table, kind: &Kind, text: &mut String) {
        if table.is_empty() {
            return eprintln!("{}", self.nothing(kind));
        }
        let gap = if text.is_empty() { "" } else { "\n" };
        write!(text, "{gap}{table}").expect("writing to a string cannot fail");
    }

    fn nothing(&self, kind: &Kind) -> String {
        let plural = &kind.plural;
        match self.namespace {
            Some(namespace) => {
                format!("no {plural} in namespace {namespace}; -A looks in all namespaces")
            }
            None => format!("no {plural} in any namespace"),
        }
    }

    /// All objects as one List.
    async fn objects(&self, kinds: &[&Kind]) -> anyhow::Result<ExitCode> {
        let mut items = Vec::new();
        for kind in kinds {
            let pages = self.pages(kind, AS_OBJECTS).await?;
            items.extend(client::items(pages));
        }
        output::json(
            &json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": items }),
        )?;
        Ok(ExitCode::SUCCESS)
    }

    async fn tree(&self) -> anyhow::Result<ExitCode> {
        let [zones, records] = tree_kinds();
        let zone_pages = self.pages(&zones, AS_OBJECTS).await?;
        let record_pages = self.records_of_all(&records).await?;
        let (zone_list, record_list) = (decoded(zone_pages)?, decoded(record_pages)?);
        let forest = Forest::grow(zone_list, record_list, self.namespace);
        if forest.is_empty() {
            eprintln!("{}", self.nothing(&zones));
        }
        let drawing = if output::is_terminal() {
            Drawing::Lines
        } else {
            Drawing::Indent
        };
        output::print(&forest.draw(drawing))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Records of all namespaces, for a zone's may be in any; those of one where more is not allowed.
    async fn records_of_all(&self, records: &Kind) -> anyhow::Result<Vec<Value>> {
        match self.cluster.list(&records.path(None), AS_OBJECTS).await {
            Err(error) if client::is_forbidden(&error) => self.pages(records, AS_OBJECTS).await,
            listed => listed.map_err(|error| self.explain(&error, records)),
        }
    }

    async fn pages(&self, kind: &Kind, media_type: &str) -> anyhow::Result<Vec<Value>> {
        let path = kind.path(self.namespace);
        let listed = self.cluster.list(&path, media_type).await;
        listed.map_err(|error| self.explain(&error, kind))
    }

    fn explain(&self, error: &kube::Error, kind: &Kind) -> anyhow::Error {
        if !client::is_missing(error) {
            return self.cluster.explain(error);
        }
        let prefix = kind.prefix();
        anyhow::anyhow!(
            "the API does not know the kind {prefix}; \
             teach it with `zonewright crds | kubectl apply --server-side -f -`"
        )
    }
}

/// Objects one by one: what cannot be read stands for itself.
fn decoded<K: serde::de::DeserializeOwned>(
    pages: Vec<Value>,
) -> anyhow::Result<Vec<api::Decoded<K>>> {
    let items = client::items(pages);
    Ok(items
        .map(serde_json::from_value)
        .collect::<Result<_, _>>()?)
}

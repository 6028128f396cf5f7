//! One of the two APIs, and kubectl pointed at it.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use testkit::control_plane::{Finished, Kubectl};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::normal::Normal;
use crate::script::{Script, Step, words};

/// No command takes longer, not even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// An API and the kubectl that asks it.
pub(crate) struct Side {
    client: Client,
    kubectl: Kubectl,
    /// Where the files of scripts are.
    folder: PathBuf,
}

/// What a command came to, made comparable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) command: String,
    pub(crate) code: String,
    pub(crate) output: String,
    pub(crate) complaints: String,
}

impl Side {
    pub(crate) fn new(client: Client, kubectl: Kubectl, folder: PathBuf) -> Self {
        Self {
            client,
            kubectl,
            folder,
        }
    }

    /// Adds our own kinds.
    pub(crate) async fn install(&self) {
        let installed = testkit::crds::install(&self.client, &api::crds::all()).await;
        installed.expect("our kinds can be installed");
    }

    /// Runs a script in a namespace of its own.
    pub(crate) async fn run(&self, script: &Script, namespace: &str) -> Vec<Outcome> {
        self.prepare(script, namespace).await;
        let scene = Scene {
            side: self,
            namespace,
            folder: self.folder.join(namespace),
        };
        let mut normal = Normal::default();
        let mut outcomes = Vec::new();
        for step in &script.steps {
            for (command, finished) in scene.step(step).await {
                outcomes.push(Outcome {
                    command,
                    code: finished
                        .code
                        .map_or("killed".to_owned(), |code| code.to_string()),
                    output: normal.text(&finished.stdout),
                    complaints: normal.text(&finished.stderr),
                });
            }
        }
        outcomes
    }

    async fn prepare(&self, script: &Script, namespace: &str) {
        let folder = self.folder.join(namespace);
        fs::create_dir_all(&folder).expect("there is room for a folder");
        for (name, text) in &script.files {
            let text = text.replace("{ns}", namespace);
            fs::write(folder.join(name), text).expect("there is room for a file");
        }
        let object = Namespace {
            metadata: ObjectMeta {
                name: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        };
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        namespaces
            .create(&PostParams::default(), &object)
            .await
            .expect("a namespace can be made");
    }
}

/// A script that is being run.
struct Scene<'a> {
    side: &'a Side,
    namespace: &'a str,
    folder: PathBuf,
}

impl Scene<'_> {
    /// The commands of a step, and what they left.
    async fn step(&self, step: &Step) -> Vec<(String, Finished)> {
        match step {
            Step::Plain(line) => vec![self.run(line, "", "").await],
            Step::Run { run, editor, input } => vec![self.run(run, editor, input).await],
            Step::Until { until } => {
                let attempt = async || match self.run(until, "", "").await {
                    (command, finished) if finished.code == Some(0) => Ok((command, finished)),
                    (_, finished) => Err(format!("{finished:?}")),
                };
                let done = testkit::eventually(PATIENCE, until, attempt).await;
                let done = done.or_else(|overdue| {
                    let stderr = overdue.to_string();
                    let (code, stdout) = (None, String::new());
                    Ok::<_, ()>((
                        until.clone(),
                        Finished {
                            code,
                            stdout,
                            stderr,
                        },
                    ))
                });
                done.into_iter().collect()
            }
            Step::Watch {
                watch,
                lines,
                meanwhile,
            } => self.watch(watch, *lines, meanwhile).await,
        }
    }

    async fn run(&self, line: &str, editor: &str, input: &str) -> (String, Finished) {
        let line = line.replace("{ns}", self.namespace);
        let mut command = self.command(&line);
        command.env("KUBE_EDITOR", editor);
        let input = input.replace("{ns}", self.namespace);
        let finished = timeout(PATIENCE, testkit::control_plane::finish(command, &input)).await;
        let finished = finished.unwrap_or_else(|_| panic!("{line} did not end"));
        (line, finished.expect("kubectl can be run"))
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.side.kubectl.command();
        command
            .args(["--namespace", self.namespace])
            .args(words(line))
            .current_dir(&self.folder);
        command
    }

    async fn watch(
        &self,
        line: &str,
        lines: Option<usize>,
        meanwhile: &[String],
    ) -> Vec<(String, Finished)> {
        let line = line.replace("{ns}", self.namespace);
        // That it watches is told by what it logs of its requests.
        let mut command = self.command(&format!("{line} -v=6"));
        let mut child = command
            .stdin(Stdio::null())
            .spawn()
            .expect("kubectl can be run");
        let log = child.stderr.take().expect("it was asked for as a pipe");
        let mut log = BufReader::new(log).lines();
        let _late = timeout(PATIENCE, until_it_watches(&mut log)).await;
        let rest = tokio::spawn(async move { while let Ok(Some(_)) = log.next_line().await {} });
        let mut outcomes = Vec::new();
        for line in meanwhile {
            outcomes.push(self.run(line, "", "").await);
        }
        let finished = read(child, lines).await;
        rest.abort();
        outcomes.push((line, finished));
        outcomes
    }
}

async fn until_it_watches(log: &mut Lines<BufReader<impl AsyncRead + Unpin>>) {
    while let Ok(Some(line)) = log.next_line().await {
        if line.contains("watch=true") && line.contains("200 OK") {
            return;
        }
    }
}

/// What a command prints: all, or so many lines of it.
async fn read(mut child: Child, most: Option<usize>) -> Finished {
    let output = child.stdout.take().expect("it was asked for as a pipe");
    let mut output = BufReader::new(output).lines();
    let mut stdout = String::new();
    let mut count = 0;
    while most.is_none_or(|most| count < most) {
        let Ok(Ok(Some(line))) = timeout(PATIENCE, output.next_line()).await else {
            break;
        };
        stdout.push_str(&line);
        stdout.push('\n');
        count += 1;
    }
    let code = match most {
        Some(_) => {
            let _gone = child.kill().await;
            None
        }
        None => child.wait().await.ok().and_then(|status| status.code()),
    };
    Finished {
        code,
        stdout,
        stderr: String::new(),
    }
}

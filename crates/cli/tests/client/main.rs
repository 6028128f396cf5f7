//! The commands that talk to an API, as scripts see them: standard output, standard error, exit code.

mod cluster;
mod export;
mod get;
mod import;

# Short names for `cargo xtask`. Everything here also works without just.

# List the commands
default:
    @just --list

# Run the tests, or those whose name contains the filter; `--cluster` for those beside a real control plane, `--quick` for the pure crates
test *arguments:
    cargo xtask test {{arguments}}

# Format, lints, tree, licences, generated files, documentation
check:
    cargo xtask check

# Format the code
fmt:
    cargo fmt --all
    cargo fmt --manifest-path fuzz/Cargo.toml

# Write CRDs and reference pages
generate:
    cargo xtask generate

# Check the rules of the tree
tidy:
    cargo xtask tidy

# Feed random input to a fuzz target, or to `all`
fuzz target="all" seconds="60":
    cargo xtask fuzz {{target}} --seconds {{seconds}}

# Measure a scenario, or all
bench *scenario:
    cargo xtask bench {{scenario}}

# Start a real Kubernetes control plane
control-plane:
    cargo xtask control-plane

# What CI runs
ci:
    .ci/run

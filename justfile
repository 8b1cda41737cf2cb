# What people do here. `just` is a convenience: every recipe is one command that works without it, and what CI checks is written in
# `.ci/run` only, which the recipes call.

# Lists the recipes.
default:
    @just --list --unsorted

# Builds the binary: `just build`, `just build --release`.
build *OPTIONS:
    cargo build --locked {{OPTIONS}}

# Runs the tests: `just test`, `just test --editors`, `just test --long`.
test *OPTIONS:
    tests/run {{OPTIONS}}

# Runs the unit tests of one crate whose path contains a name: `just test-one strata-engine tiers::ledger`.
test-one CRATE NAME:
    cargo test --package {{CRATE}} --lib -- {{NAME}}

# Runs the tests of one suite whose path contains a name: `just test-suite stdio trust::`. Suites: architecture, libraries, safety, stdio, endurance.
test-suite SUITE NAME="":
    cargo test --workspace --test {{SUITE}} -- {{NAME}}

# Measures, and prints the figures: `just bench`, `just bench latency tokens`.
bench *AREAS:
    tests/benches/run {{AREAS}}

# Builds the documentation of all crates, private items included, and fails on a warning.
docs:
    .ci/run docs

# Builds the site of the pages in docs/ into target/site, and checks its links.
site:
    .ci/run site

# Checks spelling.
spelling:
    .ci/run spelling

# Checks format and lints, as CI does.
lint:
    .ci/run lint

// Kuadrant's end-to-end suite, as it is published: `testkit::control_plane::kuadrant` builds it, and `crates/cli/tests/kuadrant`
// runs it.
//
// The suite is built inside its own module, with the versions that it was made with; here is only which one.
module zonewright.dev/kuadrant

go 1.26.4

require github.com/kuadrant/dns-operator v0.17.1

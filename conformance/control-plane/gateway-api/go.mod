// The Gateway API, for its CustomResourceDefinitions alone: tests read
// config/crd/standard from the downloaded module, found by
// `testkit::control_plane::gateway_api`. No package of it is imported or built, so
// `go mod tidy` would drop it: to move to another version, change it below and run
// `go mod download sigs.k8s.io/gateway-api`.
module zonewright.dev/control-plane/gateway-api

go 1.26.0

require sigs.k8s.io/gateway-api v1.6.3

// Package chaos tests a whole stack under faults. The crash matrix injects a fault at every step of clusters' lives and checks that
// they converge; the soak runs many lives with random faults, and with nights in which hours pass at once and clusters sleep.
//
// Everything real runs as in production: server, runners and installers are processes and are really killed. The tests only act from
// outside: they open pull requests, set labels, write comments, run ocpctl, cut connections and kill. They check with the stand-ins' own
// state, never with the product, that nothing is left.
package chaos

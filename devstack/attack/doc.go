// Package attack attacks a running demo and reports which attacks were held and which succeeded.
//
// Server, runners and installers are the real programs; the attacks use only what their attacker would have: a connection to a
// listener, an account on GitHub, a role in a team, one attempt's token, the bucket. The effect of an attack is measured on the
// victim's side: its resources in the stand-in cloud, its status, its credentials. An attack that could not be played is reported as
// broken and fails the run like one that succeeded, so that nothing counts as held that was never tried.
//
// It must never change the product to make an attack possible, and never be used against anything but its own demo.
package attack

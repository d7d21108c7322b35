// Package kinds is the table of what the kinds of clusters are made on, and what can be done with them.
//
// A kind is named by its provisioner, a word of profiles and runners. What stands above the runner asks this table and knows no kind by its name.
package kinds

import "slices"

// The provisioners.
const (
	OpenShift  = "openshift"  // the installer makes a cluster of machines in a cloud account; also what an empty name means
	HyperShift = "hypershift" // an OpenShift cluster whose control plane is pods on a hub, which HyperShift's operator makes
	Namespace  = "namespace"  // a namespace on a hub: a Kubernetes or OpenShift cluster that is there already
)

// Ability is something that not every kind can do.
type Ability string

// The abilities.
const (
	Console    Ability = "console"     // people sign in to a console of its own
	Look       Ability = "look"        // a runner looks inside for people's requests, writes its card, and reads its links
	Tags       Ability = "tags"        // tags are attached to what was made without them
	Kubeadmin  Ability = "kubeadmin"   // it has a password of its own that opens everything
	MustGather Ability = "must-gather" // logs of the whole cluster can be gathered
	Installer  Ability = "installer"   // a version's installer makes it of machines, which profiles describe
	OwnAPI     Ability = "own-api"     // it is an OpenShift cluster with an API, a version and DNS names of its own
)

// kind is one row of the table.
type kind struct {
	platforms []string
	can       []Ability
	why       string // why it can do nothing else, for people
	ready     string // when it is usually ready, for people
	lacks     string // what it is not enough for, for people
}

var table = map[string]kind{
	OpenShift: {platforms: []string{"aws", "ibmcloud"}, can: []Ability{Console, Look, Tags, Kubeadmin, MustGather, Installer, OwnAPI}, ready: "after about 40 minutes"},
	HyperShift: {
		platforms: []string{"kubernetes"}, can: []Ability{Look, Kubeadmin, OwnAPI}, why: "its control plane is hosted on a hub, and no installer made it",
		ready: "within 20 minutes", lacks: "control-plane machines, upgrades or add-ons",
	},
	Namespace: {
		platforms: []string{"kubernetes"}, why: "it is a namespace on a shared cluster, and not a cluster of its own",
		ready: "within seconds", lacks: "cluster-admin, nodes, operators or CRDs",
	},
}

func of(provisioner string) kind {
	if provisioner == "" {
		provisioner = OpenShift
	}
	return table[provisioner]
}

// Can reports whether clusters of a kind can do something.
func Can(provisioner string, a Ability) bool { return slices.Contains(of(provisioner).can, a) }

// WhyNot says, as the end of a sentence, why clusters of a kind cannot do what others can.
func WhyNot(provisioner string) string { return of(provisioner).why }

// IsSmaller reports that a kind can do less than another one, and nothing that the other cannot.
func IsSmaller(provisioner, than string) bool {
	few, many := of(provisioner).can, of(than).can
	return len(few) < len(many) && !slices.ContainsFunc(few, func(a Ability) bool { return !slices.Contains(many, a) })
}

// ReadyAfter says when clusters of a kind are usually ready, as in docs/kinds.md.
func ReadyAfter(provisioner string) string { return of(provisioner).ready }

// Lacks says what clusters of a kind are not enough for.
func Lacks(provisioner string) string { return of(provisioner).lacks }

// On returns the kinds that are made on a platform.
func On(platform string) (names []string) {
	for name, k := range table {
		if slices.Contains(k.platforms, platform) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// NeedsAccount reports that a platform has no account of the installation's own: its accounts are documents of the catalogue.
func NeedsAccount(platform string) bool { return platform == "kubernetes" }

// Release names the release of a cluster with an API of its own, for people, with what is special about its kind.
func Release(provisioner, release string) string {
	if Can(provisioner, Installer) {
		return release
	}
	return release + " with a hosted control plane"
}

// Product names what a cluster runs, for people: OpenShift with its release, or the word of its kind.
func Product(provisioner, release string) string {
	if Can(provisioner, OwnAPI) {
		return "OpenShift " + Release(provisioner, release)
	}
	return provisioner
}

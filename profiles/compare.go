package profiles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// compare makes the checks that need more than one field, if those fields have no problem of their own.
func compare(r *reader, p Profile) {
	checkName(r, p.Name)
	compareKind(r, p)
	if r.good("enabled", "disabledReason") && p.Enabled {
		r.failAt("disabledReason", "given for an enabled profile", "none, or enabled: false")
	}
	if r.good("enabled") && !p.Enabled && r.lines["disabledReason"] == 0 {
		r.failAt("enabled", "false without a reason", "false together with disabledReason")
	}
	if modes := platforms[p.Platform].modes; r.good("platform", "credentialsMode") && !slices.Contains(modes, p.CredentialsMode) {
		r.failAt("credentialsMode", p.CredentialsMode, strings.Join(modes, ", ")+", the only mode on "+p.Platform)
	}
	if p.IsDefault && !p.Enabled && r.good("default", "enabled") {
		r.failAt("default", "true with enabled: false", "false, or enabled: true")
	}
	if p.IsDefault && p.AdminOnly && r.good("default", "adminOnly") {
		r.failAt("default", "true with adminOnly", "false, or adminOnly: false")
	}
	if r.good("credentialsMode") && p.CredentialsMode == "Mint" && !p.AdminOnly && !r.wrong("adminOnly") {
		at := cmp.Or(r.lines["adminOnly"], r.lines["credentialsMode"])
		r.fail(at, "adminOnly", "not true with credentialsMode Mint, which copies the runner's keys into the cluster", "true, or credentialsMode: Manual")
	}
	if r.good("credentialsMode", "teamBreakGlass") && p.TeamBreakGlass && p.CredentialsMode != "Mint" {
		r.failAt("teamBreakGlass", "given with credentialsMode "+p.CredentialsMode+", where it has no effect", "none, or credentialsMode: Mint")
	}
	if r.good("platform") && p.Platform == "aws" && r.lines["loadBalancer"] == 0 {
		r.fail(r.lines["platform"], "loadBalancer", "missing on aws", "NLB")
	}
	if r.good("platform", "loadBalancer") && p.Platform != "aws" {
		r.failAt("loadBalancer", fmt.Sprintf("given on %s", p.Platform), "none, or platform: aws")
	}
	if r.good("ttl.defaultHours", "ttl.maxHours") && p.DefaultTTL > p.MaxTTL {
		r.failAt("ttl.defaultHours", fmt.Sprintf("%g", p.DefaultTTL.Hours()), fmt.Sprintf("at most maxHours, %g", p.MaxTTL.Hours()))
	}
	if r.good("ttl.maxHours", "runGrace") && p.RunGrace > p.MaxTTL {
		r.failAt("runGrace", duration.Typed(p.RunGrace), fmt.Sprintf("at most maxHours, %gh", p.MaxTTL.Hours()))
	}
	compareLists(r, p)
	if on, known := platforms[p.Platform]; known {
		comparePlaces(r, on, p)
	}
	compareMachines(r, p)
	compareSleep(r, p)
	compareSpot(r, p)
	compareNetworks(r, p)
}

func compareLists(r *reader, p Profile) {
	for name, list := range map[string]Allowed{"versions": p.Versions, "baseDomains": p.BaseDomains} {
		if r.good(name) && !list.Has(list.Default) {
			r.failAt(name+".default", fmt.Sprintf("%q", list.Default), "one of "+strings.Join(list.Allow, ", "))
		}
	}
	if _, known := p.Region(p.DefaultRegion); r.good("regions") && !known {
		r.failAt("regions.default", fmt.Sprintf("%q", p.DefaultRegion), "one of "+strings.Join(p.RegionNames(), ", "))
	}
	seen := map[string]bool{}
	for i, region := range p.Regions {
		at := fmt.Sprintf("regions.allow[%d]", i)
		if r.good(at+".name") && seen[region.Name] {
			r.failAt(at+".name", region.Name+" again", "each region once")
		}
		seen[region.Name] = true
		for k, other := range region.Fallback {
			in := fmt.Sprintf("%s.fallback[%d]", at, k)
			if _, known := p.Region(other); r.good(at+".name", in) && (!known || other == region.Name || slices.Index(region.Fallback, other) != k) {
				r.failAt(in, fmt.Sprintf("%q", other), "other regions of the list, each once")
			}
		}
	}
}

// comparePlaces checks that regions, zones and instance types are those of the profile's cloud.
func comparePlaces(r *reader, on platform, p Profile) {
	check := func(at, value string, of form) {
		if r.good("platform", at) && !of.MatchString(value) {
			r.failAt(at, fmt.Sprintf("%q", value), of.text)
		}
	}
	for i, region := range p.Regions {
		at := fmt.Sprintf("regions.allow[%d]", i)
		check(at+".name", region.Name, on.region)
		for j, zone := range slices.Concat(region.Zones, region.SpareZones) {
			in := fmt.Sprintf("%s.zones[%d]", at, j)
			if spare := j - len(region.Zones); spare >= 0 {
				in = fmt.Sprintf("%s.spareZones[%d]", at, spare)
			}
			if check(in, zone, on.zone); r.good(at+".name", in) && (!on.inside(region.Name, zone) || slices.Index(slices.Concat(region.Zones, region.SpareZones), zone) != j) {
				r.failAt(in, fmt.Sprintf("%q", zone), "zones of "+region.Name+", each once")
			}
		}
	}
	check("controlPlane.instanceType", p.ControlPlane.InstanceType, on.instance)
	check("workers.instanceType", p.Workers.InstanceType, on.instance)
}

// compareMachines allows only what the installer can build: it makes the control plane schedulable exactly if there are no workers,
// and a single worker gives a single-replica infrastructure.
func compareMachines(r *reader, p Profile) {
	if n := p.ControlPlane.Replicas; r.good("controlPlane.replicas") && n == 2 {
		r.failAt("controlPlane.replicas", "2", "1 or 3")
	}
	if r.good("workers.replicas") && p.Workers.Replicas == 1 {
		r.failAt("workers.replicas", "1", "0, or 2 or more")
	}
	if r.good("workers.replicas", "workers.minReplicas") && p.Workers.Least > p.Workers.Replicas {
		r.failAt("workers.minReplicas", fmt.Sprintf("%d", p.Workers.Least), fmt.Sprintf("at most replicas, %d", p.Workers.Replicas))
	}
	if r.good("workers.replicas", "workers.maxReplicas") && p.Workers.Most < p.Workers.Replicas {
		r.failAt("workers.maxReplicas", fmt.Sprintf("%d", p.Workers.Most), fmt.Sprintf("at least replicas, %d", p.Workers.Replicas))
	}
	if r.good("controlPlane.schedulable", "workers.replicas") && p.ControlPlane.Schedulable != (p.Workers.Replicas == 0) {
		r.failAt("controlPlane.schedulable", fmt.Sprintf("%t with %d workers", p.ControlPlane.Schedulable, p.Workers.Replicas),
			"true without workers, false with workers")
	}
}

// compareSleep allows only what the runner can do: only workers that are there can be removed.
func compareSleep(r *reader, p Profile) {
	if r.good("workers.replicas", "sleep.mode") && p.Sleep == SleepWorkers && p.Workers.Replicas == 0 {
		r.failAt("sleep.mode", "workers without workers", "stopped or never")
	}
}

// compareNetworks checks the networks against each other.
func compareNetworks(r *reader, p Profile) {
	n := p.Networking
	all := []network{
		{"networking.machineNetwork", n.MachineNetwork},
		{"networking.clusterNetwork", n.ClusterNetwork},
		{"networking.serviceNetwork", n.ServiceNetwork},
	}
	apart(r, all)
	if r.good("networking.clusterNetwork", "networking.hostPrefix") {
		checkHostPrefix(r, "networking.hostPrefix", n.ClusterNetwork, n.HostPrefix, p.ControlPlane.Replicas+p.Workers.Most)
	}
}

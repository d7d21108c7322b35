package main

import (
	"context"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/inventory"
	"github.com/ocpctl/ocpctl/runner/provision/hypershift"
	"github.com/ocpctl/ocpctl/runner/provision/namespace"
	"github.com/ocpctl/ocpctl/runner/scan"
)

// openNamespace opens a hub for namespaces.
func openNamespace(region string, keys cloud.Keys) (runner.Provisioner, error) {
	hub, err := kubernetes.New(region, keys)
	if err != nil {
		return nil, err
	}
	return namespace.New(hub), nil
}

// openHyperShift opens a hub for hosted clusters.
func openHyperShift(region string, keys cloud.Keys) (runner.Provisioner, error) {
	hub, err := kubernetes.New(region, keys)
	if err != nil {
		return nil, err
	}
	return hypershift.New(hub), nil
}

// openHubInventory opens a hub for a scan.
func openHubInventory(_ context.Context, spec contract.ScanSpec, keys cloud.Keys) (scan.Inventory, error) {
	return inventory.New(spec.HomeRegion, keys)
}

// openHubMeter opens a hub for a proof.
func openHubMeter(_ context.Context, region string, keys cloud.Keys) (scan.Meter, error) {
	return kubernetes.New(region, keys)
}

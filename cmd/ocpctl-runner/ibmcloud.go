package main

import (
	"context"
	"os"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/inventory"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/scan"
)

// openIBMCloud opens IBM Cloud with the given API key or, without one, with the trusted profile of the pod.
func openIBMCloud(ctx context.Context, region string, keys cloud.Keys) (runner.Cloud, error) {
	return ibmcloud.New(ctx, region, keys, os.Getenv)
}

// openIBMInventory opens an account for a scan in the same way.
func openIBMInventory(_ context.Context, spec contract.ScanSpec, keys cloud.Keys) (scan.Inventory, error) {
	authenticator, err := access.Authenticate(keys, os.Getenv, nil)
	if err != nil {
		return nil, err
	}
	return inventory.New(inventory.Config{
		Authenticator: authenticator, URLs: access.Addresses(os.Getenv), HomeRegion: spec.HomeRegion, BaseDomains: spec.BaseDomains, CallsPerSecond: spec.CallsPerSecond,
	})
}

// maskIBM registers the credentials of IBM Cloud in the environment with the redactor. Nothing uses them: keys come by reference alone.
func maskIBM(env []string, redact *installer.Redactor) {
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); secret.IBMVariable(name) {
			redact.Add(secret.New(value))
		}
	}
}

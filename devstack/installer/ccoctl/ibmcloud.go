package ccoctl

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/installer/resources/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// ibmKeys are the variables with the API key, the first that is set counts.
var ibmKeys = []string{"IC_API_KEY", "IBMCLOUD_API_KEY", "BM_API_KEY", "BLUEMIX_API_KEY"}

func (r *run) ibmCommands() *cobra.Command {
	ibm := &cobra.Command{Use: "ibmcloud", Short: "Manage credentials objects for IBM Cloud"}
	leaf := func(use, short, command string, do func(context.Context, *ibmcloud.Identity, []credentialsRequest) error) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) (err error) {
			defer must.Catch(&err)
			cmd.SilenceUsage = true
			must.Do(r.Begin(command, r.name))
			must.Do(r.Mark(cmd.Context(), "start", 0))
			return r.onIBMCloud(cmd.Context(), do)
		}}
		cmd.Flags().StringVar(&r.name, "name", "", "User-defined name for all created IBM Cloud resources (can be separate from the cluster's infra-id)")
		cmd.Flags().StringVar(&r.requests, "credentials-requests-dir", "", "Directory containing files of CredentialsRequests")
		require(cmd, "name", "credentials-requests-dir")
		return cmd
	}
	create := leaf("create-service-id", "Create Service ID", "ccoctl-create", r.createServiceIDs)
	create.Flags().StringVar(&r.group, "resource-group-name", "", "Name of the resource group used for scoping the access policies")
	create.Flags().StringVar(&r.output, "output-dir", "", "Directory to place generated files (defaults to current directory)")
	create.Flags().BoolVar(&r.tech, "enable-tech-preview", false, "Opt into processing CredentialsRequests marked as tech-preview")
	remove := leaf("delete-service-id", "Delete Service ID", "ccoctl-delete", r.deleteServiceIDs)
	remove.Flags().BoolVar(&r.force, "force", false, "Delete all Service IDs of a name, although there are several")
	ibm.AddCommand(create, remove)
	return ibm
}

func (r *run) onIBMCloud(ctx context.Context, do func(context.Context, *ibmcloud.Identity, []credentialsRequest) error) (err error) {
	defer must.Catch(&err)
	cloud := must.Get(ibmcloud.Open("", r.Wrote, ibmKeys...))
	if !cloud.HasKey() {
		return fmt.Errorf("%s environment variable not set", ibmKeys[0])
	}
	must.Wrap(cloud.Login(ctx), "failed to get the details of the API key")
	requests, err := readRequests(r.requests)
	must.Wrap(err, "failed to process files containing CredentialsRequests")
	return do(ctx, &ibmcloud.Identity{Cloud: cloud, Name: r.name, Say: r.log.Printf}, requests)
}

func accessOf(request credentialsRequest) (ibmcloud.Access, error) {
	if request.Spec.ProviderSpec.Kind != "IBMCloudProviderSpec" {
		return ibmcloud.Access{}, fmt.Errorf("CredentialsRequest %s/%s is not of type IBMCloud", request.Metadata.Namespace, request.Metadata.Name)
	}
	return ibmcloud.Access{Namespace: request.Spec.SecretRef.Namespace, Secret: request.Spec.SecretRef.Name, Policies: request.Spec.ProviderSpec.Policies}, nil
}

// createServiceIDs creates a service ID with its policies, an API key and a Secret's manifest for each request. After an error it deletes
// the service IDs that it made; after a kill they stay.
func (r *run) createServiceIDs(ctx context.Context, id *ibmcloud.Identity, requests []credentialsRequest) (err error) {
	defer must.Catch(&err)
	if r.absolute, err = filepath.Abs(r.output); err != nil {
		return fmt.Errorf("failed to resolve full path: %w", err)
	}
	must.Do(r.folders())
	if r.group != "" {
		group, err := id.FindGroup(ctx, r.group)
		must.Wrap(err, "failed to get the resource group")
		id.Group = group.ID
	}
	for _, request := range requests {
		if err := r.createServiceID(ctx, id, request); err != nil {
			if !act.Ends(err) {
				id.Undo(ctx)
			}
			return fmt.Errorf("failed to process Service ID: %w", err)
		}
	}
	return nil
}

func (r *run) createServiceID(ctx context.Context, id *ibmcloud.Identity, request credentialsRequest) (err error) {
	defer must.Catch(&err)
	access := must.Get(accessOf(request))
	key := must.Get(id.Create(ctx, access))
	file := release.Request{Namespace: access.Namespace, Secret: access.Secret}.File()
	err = r.save(fmt.Appendf(nil, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\n  namespace: %s\nstringData:\n  ibm-credentials.env: |-\n"+
		"    IBMCLOUD_AUTHTYPE=iam\n    IBMCLOUD_APIKEY=%s\n  ibmcloud_api_key: %s\ntype: Opaque\n", access.Secret, access.Namespace, key, key), "manifests", file)
	if err == nil {
		r.log.Printf("Saved credentials configuration to: %s", r.path("manifests", file))
	}
	return err
}

// deleteServiceIDs ends at the first error. A service ID that is not found is none.
func (r *run) deleteServiceIDs(ctx context.Context, id *ibmcloud.Identity, requests []credentialsRequest) (err error) {
	defer must.Catch(&err)
	if r.Leaks(installer.LeakIdentity) {
		return nil
	}
	for _, request := range requests {
		access := must.Get(accessOf(request))
		must.Wrap(id.Delete(ctx, access, r.force), "failed to delete Service ID")
	}
	return nil
}

// Package ccoctl is the stand-in for the tool that gives a cluster's operators their own roles in AWS and service IDs in IBM Cloud:
// `ccoctl aws create-all` and `delete`, `ccoctl ibmcloud create-service-id` and `delete-service-id`, after cloud-credential-operator
// 4.20 (pkg/cmd/provisioning). Its keys are short and its bucket is never
// private; everything else is as in the real tool, including its traps.
package ccoctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// run is one call of the program.
type run struct {
	*act.Act
	log *log.Logger

	name, region     string
	requests, output string
	publicKey        string
	boundary         string
	private, tech    bool
	group            string // IBM Cloud: name of the resource group
	force            bool
	version          string
	stdout           io.Writer
	absolute         string // of output
}

// Main runs the program and returns its exit code. Like the real tool it dies of a signal at once.
func Main(args []string, stdout, stderr io.Writer) int {
	r := &run{log: log.New(stderr, "", log.LstdFlags), stdout: stdout, version: release.VersionOf(args[0])}
	var err error
	if r.Act, err = act.New(); err != nil {
		r.log.Print(err)
		return 1
	}
	r.Log = func(_, line string) { r.log.Print(line) }
	r.Failing = act.FailWith("told to fail")
	code := r.execute(args[1:], stdout, stderr)
	if err := r.End(code); err != nil {
		r.log.Print(err)
		return 1
	}
	return code
}

func (r *run) execute(args []string, stdout, stderr io.Writer) int {
	root := r.commands()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var f *act.Failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &f):
		r.log.Print(f.Message)
		return f.Code
	}
	r.log.Print(err)
	return 1
}

func (r *run) commands() *cobra.Command {
	root := &cobra.Command{Use: "ccoctl", Short: "OpenShift credentials provisioning tool (a stand-in: speaks to this machine only)", SilenceErrors: true}
	aws := &cobra.Command{Use: "aws", Short: "Manage credentials objects for AWS cloud"}
	leaf := func(use, short, command string, do func(context.Context, *resources.Identity) error) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) (err error) {
			defer must.Catch(&err)
			cmd.SilenceUsage = true
			must.Do(r.Begin(command, r.name))
			must.Do(r.Mark(cmd.Context(), "start", 0))
			cloud := must.Get(resources.Open(cmd.Context(), r.region, r.Wrote))
			return do(cmd.Context(), &resources.Identity{Cloud: cloud, Name: r.name, Say: r.log.Printf})
		}}
		cmd.Flags().StringVar(&r.name, "name", "", "User-defined name for all created AWS resources (can be separate from the cluster's infra-id)")
		cmd.Flags().StringVar(&r.region, "region", "", "AWS region where the S3 OpenID Connect endpoint lives")
		require(cmd, "name", "region")
		return cmd
	}
	create := leaf("create-all", "Create all the required credentials objects", "ccoctl-create", r.createAll)
	create.Flags().StringVar(&r.requests, "credentials-requests-dir", "", "Directory containing files of CredentialsRequests to create IAM Roles for")
	create.Flags().StringVar(&r.output, "output-dir", "", "Directory to place generated files (defaults to current directory)")
	create.Flags().StringVar(&r.publicKey, "public-key-file", "", "Path to public ServiceAccount signing key")
	create.Flags().StringVar(&r.boundary, "permissions-boundary-arn", "", "ARN of IAM policy to use as the permissions boundary for created roles")
	create.Flags().BoolVar(&r.private, "create-private-s3-bucket", false, "Create private S3 bucket with public CloudFront OIDC endpoint")
	create.Flags().BoolVar(&r.tech, "enable-tech-preview", false, "Opt into processing CredentialsRequests marked as tech-preview")
	require(create, "credentials-requests-dir")
	aws.AddCommand(create, leaf("delete", "Delete credentials objects", "ccoctl-delete", r.delete))
	version := &cobra.Command{Use: "version", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		_, err := fmt.Fprintf(r.stdout, "ccoctl %s\nstand-in: ocpctl's scripted ccoctl; it speaks to this machine only\n", r.version)
		return err
	}}
	root.AddCommand(aws, r.ibmCommands(), version)
	return root
}

// require marks flags as required; the only possible error is an unknown flag.
func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// createAll creates the key pair, the bucket with its two documents, the identity provider and a role per request.
func (r *run) createAll(ctx context.Context, id *resources.Identity) (err error) {
	defer must.Catch(&err)
	must.FailIf(r.private, "a stand-in makes no CloudFront distribution: leave --create-private-s3-bucket out")
	if r.absolute, err = filepath.Abs(r.output); err != nil {
		return fmt.Errorf("failed to resolve full path: %w", err)
	}
	must.Do(r.folders())
	public, err := r.keys()
	must.Wrap(err, "failed to create public/private key pair")
	provider, err := r.identityProvider(ctx, id, public)
	must.Wrap(err, "failed to create Identity provider")
	must.Wrap(r.roles(ctx, id, provider), "failed to process IAM Roles")
	return nil
}

func (r *run) identityProvider(ctx context.Context, id *resources.Identity, public []byte) (arn string, err error) {
	defer must.Catch(&err)
	must.Do(id.CreateBucket(ctx))
	must.Do(id.Put(ctx, ".well-known/openid-configuration", "OpenID Connect discovery document", discovery(id.Issuer())))
	r.log.Print("Reading public key")
	keys := must.Get(keySet(public))
	must.Do(id.Put(ctx, "keys.json", "JSON web key set (JWKS)", keys))
	arn = must.Get(id.CreateProvider(ctx))
	return arn, r.save([]byte("apiVersion: config.openshift.io/v1\nkind: Authentication\nmetadata:\n  name: cluster\nspec:\n  serviceAccountIssuer: "+id.Issuer()+"\n"),
		"manifests", "cluster-authentication-02-config.yaml")
}

// delete reports what went wrong and still exits with 0, as the real tool does.
func (r *run) delete(ctx context.Context, id *resources.Identity) error {
	if r.Leaks(installer.LeakIdentity) {
		r.log.Print("failed to fetch a list of IAM roles: AccessDenied: not authorized to perform: iam:ListRoles")
		return nil
	}
	return id.Delete(ctx, act.Ends)
}

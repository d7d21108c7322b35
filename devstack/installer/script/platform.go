package script

import (
	"context"

	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

// platformKind is what differs between the clouds before anything exists: the install-config, the manifests, the metadata.
type platformKind interface {
	name() string         // as the installer's log names the infrastructure provider
	infraCluster() string // kind of the cluster API's object for the cluster: AWSCluster
	infraMachine() string

	validate(installConfig) []string
	machines(c installConfig, p *pool) (kind string, zones []string) // of a pool; of the platform's default without one
	defaultType() string
	mints(mode string) bool // the cluster makes its operators' credentials itself

	manifests(a *assets, object objectWriter) map[string]string
	describe(a *assets, m *metadata)
	open(ctx context.Context, r *run, a *assets) (account, error)
}

// account is one cloud account with the credentials of the environment.
type account interface {
	newBuild(ctx context.Context, i *install) (build, error)
	requests() []release.Request
	// usable reports whether an operator's Secret gives access to the cloud, if the signer of its tokens is there.
	usable(ctx context.Context, a *assets, request release.Request) (bool, error)
}

// build creates one cluster's resources.
type build interface {
	check(ctx context.Context) error // the cluster's name is free
	variables() map[string]any       // of the file terraform.platform.auto.tfvars.json
	infrastructure(ctx context.Context) error
	DestroyBootstrap(ctx context.Context) error
	Machines(ctx context.Context, kind string) ([]string, error)
	Operators(ctx context.Context) error
	ingress(ctx context.Context) (bool, error) // the router's record exists
	workloads() map[string]func(context.Context) error
}

// destroyer removes a cluster by its metadata.
type destroyer interface {
	begin(ctx context.Context) error // connects
	destroy(ctx context.Context, leave []string) error
	destroyBootstrap(ctx context.Context) error
}

// objectWriter writes a manifest.
type objectWriter func(version, kind, namespace, name, rest string) string

// on is the install-config's platform; nil: it names none that the stand-in knows.
func (c installConfig) on() platformKind {
	switch {
	case c.Platform.AWS != nil:
		return onAWS{}
	case c.Platform.IBM != nil:
		return onIBMCloud{}
	}
	return nil
}

// destroyerOf is the destroyer for the metadata's platform; nil: none is registered.
func (r *run) destroyerOf(m metadata) destroyer {
	switch {
	case m.InfraID == "":
	case m.AWS != nil:
		return &awsDestroyer{run: r, metadata: m}
	case m.IBM != nil:
		return &ibmDestroyer{run: r, metadata: m}
	}
	return nil
}

// Package oc is the stand-in for two parts of the oc tool. One extracts programs, credentials requests and component images from a
// release image. It contacts no registry: it knows the stand-in installer's versions, and their programs are the stand-ins beside it.
// The other queries a cluster for its machine sets, machines and nodes, scales its workers, applies objects and waits for them, lists and approves the certificate
// requests of nodes whose machines were stopped, and makes and removes service accounts and
// their tokens, which it then lets in with their roles, and whose requests it counts. It keeps Routes, ConfigMaps and ConsoleNotifications. There
// is no cluster: the stand-in clouds hold its state, and the machine API runs inside the command that scales. Like the real one it has no
// credentials of a cloud: what a cluster's operators do with theirs is done with what the clouds' administration APIs give.
package oc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// run is one call of the program.
type run struct {
	*act.Act
	stdout, stderr io.Writer
	version        string

	from, to, command, registry, installConfig, imageFor, cloud string
	requests, included                                          bool
	files                                                       []string

	kubeconfig, namespace, output, patchType, patchText, patchFile string
	replicas                                                       int

	serverSide, force  bool
	manager, condition string

	selector      string
	duration      time.Duration
	ignoreMissing bool
	everywhere    bool // in all namespaces
	login         login
	ownCA         string // of the kubeconfig, in base64
	who           user
	infoForAll    bool // everybody who is signed in may read the ConfigMap ocpctl-info
}

// Main runs the program and returns its exit code. Like the real tool it dies of a signal at once.
func Main(args []string, stdout, stderr io.Writer) int {
	r := &run{stdout: stdout, stderr: stderr, version: release.VersionOf(args[0])}
	code, err := r.execute(args[1:])
	if err != nil {
		text := err.Error()
		if !said.MatchString(text) {
			text = "error: " + text
		}
		fmt.Fprintln(stderr, text)
	}
	return code
}

// said matches an error from the server or the connection, in the real tool's form.
var said = regexp.MustCompile(`^(error:|Error from server|Unable to connect)`)

func (r *run) execute(args []string) (code int, err error) {
	if r.Act, err = act.New(); err != nil {
		return 1, err
	}
	r.Log = func(_, line string) { fmt.Fprintln(r.stderr, line) }
	r.Failing = func(step string, fault installer.Fault) *act.Failure {
		return act.FailWith("unable to connect to image repository "+r.from+": received unexpected HTTP status: 503 Service Unavailable")(step, fault)
	}
	root := r.commands()
	root.SetArgs(args)
	root.SetOut(r.stdout)
	root.SetErr(r.stderr)
	err = root.Execute()
	var f *act.Failure
	switch {
	case errors.As(err, &f):
		code = f.Code
	case err != nil:
		code = 1
	}
	return code, errors.Join(err, r.End(code))
}

func (r *run) commands() *cobra.Command {
	root := &cobra.Command{Use: "oc", Short: "OpenShift client (a stand-in: takes stand-in releases apart)", SilenceErrors: true, SilenceUsage: true}
	adm := &cobra.Command{Use: "adm"}
	rel := &cobra.Command{Use: "release"}
	image := &cobra.Command{Use: "image"}

	extract := &cobra.Command{Use: "extract", Args: cobra.MaximumNArgs(1), RunE: r.leaf(r.extract)}
	extract.Flags().StringVar(&r.from, "from", "", "Image containing the release payload")
	extract.Flags().StringVar(&r.to, "to", ".", "Directory to write release contents to")
	extract.Flags().StringVar(&r.command, "command", "", "The command to extract: openshift-install, ccoctl or oc")
	extract.Flags().BoolVar(&r.requests, "credentials-requests", false, "Only extract credential request manifests")
	extract.Flags().BoolVar(&r.included, "included", false, "Exclude manifests that are not expected to be included in the cluster")
	extract.Flags().StringVar(&r.installConfig, "install-config", "", "Path to an install-config file, to use with --included")
	extract.Flags().StringVar(&r.cloud, "cloud", "", "Specify the cloud for which the credential requests should be extracted")

	info := &cobra.Command{Use: "info IMAGE", Args: cobra.ExactArgs(1), RunE: r.leaf(r.info)}
	info.Flags().StringVar(&r.imageFor, "image-for", "", "Print the pull spec of the specified image")

	out := &cobra.Command{Use: "extract IMAGE", Args: cobra.ExactArgs(1), RunE: r.leaf(r.imageExtract)}
	out.Flags().StringSliceVar(&r.files, "file", nil, "Extract the specified files to the current directory")

	for _, cmd := range []*cobra.Command{extract, info, out} {
		cmd.Flags().StringVarP(&r.registry, "registry-config", "a", "", "Path to your registry credentials")
	}
	version := &cobra.Command{Use: "version", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		_, err := fmt.Fprintf(r.stdout, "Client Version: %s\nstand-in: ocpctl's scripted oc; it speaks to no registry and no cluster\n", r.version)
		return err
	}}
	version.Flags().Bool("client", false, "Shows client version only")
	rel.AddCommand(extract, info)
	gather := &cobra.Command{Use: "must-gather", Args: cobra.NoArgs, RunE: r.inCluster("oc-must-gather", r.mustGather)}
	gather.Flags().StringVar(&r.to, "dest-dir", "must-gather.local", "Set a specific directory on the local machine to write gathered data to")
	gather.Flags().String("timeout", "10m", "The length of time to gather data")
	certificate := &cobra.Command{Use: "certificate"}
	certificate.AddCommand(&cobra.Command{Use: "approve NAME", Args: cobra.ExactArgs(1), RunE: r.inCluster("oc-approve", r.approve)})
	adm.AddCommand(rel, gather, certificate)
	image.AddCommand(out)
	root.AddCommand(adm, image, version, r.loginCommand())
	r.clusterCommands(root)
	return root
}

// leaf applies a fault if there is one, and checks the registry credentials, before the command.
func (r *run) leaf(do func(image string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		defer must.Catch(&err)
		image := r.from
		if len(args) > 0 {
			image = args[0]
		}
		r.from = image
		must.Do(r.begin(cmd.Context()))
		must.FailIf(image == "", "must specify an image containing a release payload with --from")
		must.Do(r.credentials())
		return do(image)
	}
}

func (r *run) begin(ctx context.Context) (err error) {
	defer must.Catch(&err)
	cluster := must.Get(r.cluster())
	must.Do(r.Begin("oc", cluster))
	return r.Mark(ctx, "start", 0)
}

// credentials refuses what no registry would accept: the file must be a pull secret.
func (r *run) credentials() (err error) {
	defer must.Catch(&err)
	must.FailIf(r.registry == "", "unable to read image %s: unauthorized: access to the requested resource is not authorized", r.from)
	raw, err := os.ReadFile(r.registry)
	must.Wrap(err, "unable to load --registry-config")
	var config struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	must.Wrap(json.Unmarshal(raw, &config), "unable to load --registry-config")
	for _, entry := range config.Auths {
		if entry.Auth != "" {
			return nil
		}
	}
	return fmt.Errorf("unable to read image %s: unauthorized: access to the requested resource is not authorized", r.from)
}

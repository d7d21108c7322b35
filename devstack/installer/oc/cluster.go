package oc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/installer/resources/guests"
	"github.com/ocpctl/ocpctl/devstack/installer/resources/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/must"
)

const namespace = "openshift-machine-api"

// clusterCommands are the commands that query a cluster. The stand-in has none: it queries the cloud for what exists of it.
func (r *run) clusterCommands(root *cobra.Command) {
	root.PersistentFlags().StringVar(&r.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "Path to the kubeconfig file")
	root.PersistentFlags().StringVarP(&r.namespace, "namespace", "n", "default", "The namespace scope")
	root.PersistentFlags().String("request-timeout", "0", "How long to wait for one answer")
	get := &cobra.Command{Use: "get RESOURCE [NAME]", Args: cobra.RangeArgs(1, 2), RunE: r.inCluster("oc-get", r.get)}
	get.Flags().StringVarP(&r.output, "output", "o", "", "json or go-template=TEMPLATE")
	get.Flags().StringVarP(&r.selector, "selector", "l", "", "A label's key, or key=value")
	get.Flags().BoolVarP(&r.everywhere, "all-namespaces", "A", false, "In all namespaces")
	get.Flags().BoolVar(&r.ignoreMissing, "ignore-not-found", false, "If set to true, suppresses NotFound error for specific objects that do not exist")
	scale := &cobra.Command{Use: "scale machineset NAME", Args: cobra.ExactArgs(2), RunE: r.inCluster("oc-scale", r.scale)}
	scale.Flags().IntVar(&r.replicas, "replicas", -1, "The new desired number of replicas")
	patch := &cobra.Command{Use: "patch RESOURCE NAME", Args: cobra.ExactArgs(2), RunE: r.inCluster("oc-patch", r.patch)}
	patch.Flags().StringVar(&r.patchType, "type", "strategic", "The type of the patch")
	patch.Flags().StringVarP(&r.patchText, "patch", "p", "", "The patch")
	patch.Flags().StringVar(&r.patchFile, "patch-file", "", "A file containing a patch to be applied to the resource")
	root.AddCommand(get, scale, patch)
	r.applyCommands(root)
	r.accountCommands(root)
	r.oauthCommands(root)
}

// inCluster finds the kubeconfig's cluster, applies a fault if there is one, and runs the command on it.
func (r *run) inCluster(command string, do func(context.Context, *resources.Living, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		defer must.Catch(&err)
		ctx := cmd.Context()
		domain := must.Get(r.domain())
		name, _, _ := strings.Cut(domain, ".")
		r.Failing = act.FailWith("Unable to connect to the server: EOF")
		must.Do(r.Begin(command, name))
		must.Do(r.Mark(ctx, "start", 0))
		living, err := r.reach(ctx, domain)
		must.EndIf(errors.Is(err, resources.ErrNoCluster),
			act.Fail(1, "Unable to connect to the server: dial tcp: lookup api.%s: %s", domain, resources.ErrNoCluster))
		must.Do(err)
		if running, all := masters(living); all > 0 && 2*running <= all { // none: it is hosted
			return act.Fail(1, "Unable to connect to the server: dial tcp: lookup api.%s: i/o timeout", domain) // its machines are stopped
		}
		must.Do(r.authenticate(ctx, living))
		r.infoForAll = infoIsPublic(living)
		must.Do(r.allow(command, args))
		if r.who.account != "" { // what the installer's certificate sends is the same everywhere
			must.Do(living.CountRequest(ctx, r.who.name(), time.Now()))
		}
		return do(ctx, living, args)
	}
}

// masters counts the machines of the control plane that run, and all that exist.
func masters(l *resources.Living) (running, all int) {
	for _, m := range l.Machines {
		if m.Master {
			all++
		}
		if m.Master && m.Running {
			running++
		}
	}
	return running, all
}

// domain reads the API's address from the kubeconfig: https://api.<name>.<base domain>:6443. It refuses a kubeconfig without a login.
func (r *run) domain() (_ string, err error) {
	defer must.Catch(&err)
	raw, err := os.ReadFile(r.kubeconfig)
	must.Wrap(err, "error loading config file %q", r.kubeconfig)
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     string `yaml:"certificate-authority-data"`
			}
		}
		Users []struct {
			User login
		}
	}
	if err := yaml.Unmarshal(raw, &config); err != nil || len(config.Clusters) == 0 {
		return "", fmt.Errorf("error loading config file %q", r.kubeconfig)
	}
	must.EndIf(len(config.Users) == 0, errUnauthorized)
	if r.login = config.Users[0].User; r.login.Key == "" && r.login.Token == "" && r.login.Exec == nil {
		return "", errUnauthorized
	}
	r.ownCA = config.Clusters[0].Cluster.CA
	server := must.Get(url.Parse(config.Clusters[0].Cluster.Server))
	return strings.TrimPrefix(server.Hostname(), "api."), nil
}

// reach finds the cluster of a domain on the stand-in hub and in the stand-in clouds that there are. oc has no credentials of a cloud: for what the operators of a
// real cluster do with theirs, the clouds' administration APIs give some.
func (r *run) reach(ctx context.Context, domain string) (_ *resources.Living, err error) {
	defer must.Catch(&err)
	if hub := os.Getenv(installer.HubVariable); hub != "" {
		if living, err := guests.Locate(ctx, hub, domain); !errors.Is(err, resources.ErrNoCluster) {
			return living, err
		}
	}
	if os.Getenv(installer.IBMCloudVariable) != "" {
		ibm := must.Get(ibmcloud.Open("", r.Wrote))
		living, err := ibm.Locate(ctx, domain)
		if !errors.Is(err, resources.ErrNoCluster) || os.Getenv(installer.AWSVariable) == "" {
			return living, err
		}
	}
	must.Do(resources.AsOperator(ctx, os.Getenv(installer.AWSVariable), domain))
	global := must.Get(resources.Open(ctx, "us-east-1", r.Wrote))
	network, region := must.Get2(global.Locate(ctx, domain))
	cloud := must.Get(resources.Open(ctx, region, r.Wrote))
	infraID := must.Get(cloud.In(ctx, network))
	return cloud.Living(ctx, infraID)
}

func (r *run) get(_ context.Context, l *resources.Living, args []string) (err error) {
	defer must.Catch(&err)
	must.FailIf(r.output != "json" && !strings.HasPrefix(r.output, goTemplate), "the stand-in prints JSON, or what a Go template makes of it")
	var items []any
	kind, _, _ := strings.Cut(args[0], ".")
	name := ""
	if len(args) > 1 {
		name = args[1]
	}
	document, known := r.getOAuth(l, kind, name)
	if !known {
		document, known = r.getKept(l, kind, name)
	}
	if known {
		switch {
		case document != nil:
			return r.print(document)
		case r.ignoreMissing:
			return nil
		}
		return act.Fail(1, "Error from server (NotFound): %s %q not found", kind, name)
	}
	switch {
	case kind == "scheduler" || kind == "schedulers":
		return r.print(map[string]any{"kind": "Scheduler", "metadata": map[string]any{"name": "cluster"}, "spec": map[string]any{"mastersSchedulable": l.Schedulable()}})
	case (kind == "machineset" || kind == "machinesets") && r.namespace == namespace:
		for _, zone := range l.Zones {
			items = append(items, machineSet(l, zone))
		}
	case (kind == "machine" || kind == "machines") && r.namespace == namespace:
		items = machines(l)
	case kind == "certificatesigningrequest" || kind == "certificatesigningrequests" || kind == "csr":
		requests := must.Get(certificateRequests(l))
		for _, one := range requests {
			items = append(items, one.document)
		}
	case kind == "egressip" || kind == "egressips":
		items = egressAddresses(l)
	case kind == "clusteroperator" || kind == "clusteroperators":
		items = clusterOperators(l)
	case kind == "apirequestcount" || kind == "apirequestcounts":
		items = append(items, requestCounts(l, time.Now()))
	case kind == "node" || kind == "nodes":
		for _, m := range l.Machines {
			items = append(items, node(l, m))
		}
	default:
		for one := range strings.SplitSeq(args[0], ",") {
			kind, _, _ := strings.Cut(one, ".")
			found, known := r.accountsAs(l, kind)
			if !known {
				found = r.applied(l, kind)
			}
			items = append(items, found...)
		}
	}
	return r.print(map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}})
}

// goTemplate begins the output format that is a template.
const goTemplate = "go-template="

func (r *run) print(document any) (err error) {
	defer must.Catch(&err)
	raw := must.Get(json.MarshalIndent(document, "", "    "))
	if text, is := strings.CutPrefix(r.output, goTemplate); is {
		var plain any // as the real oc, which reads what it got as JSON again
		must.Do(json.Unmarshal(raw, &plain))
		t, err := template.New("output").Parse(text)
		if err != nil {
			return act.Fail(1, "error: error parsing template %s, %v", text, err)
		}
		return t.Execute(r.stdout, plain)
	}
	_, err = fmt.Fprintf(r.stdout, "%s\n", raw)
	return err
}

// scale sets a set's number of machines. The machine API reports failures only in its objects: what it cannot create shows in the
// machines, at the step "launch", and what never becomes ready in the nodes, at the step "ready".
func (r *run) scale(ctx context.Context, l *resources.Living, args []string) (err error) {
	defer must.Catch(&err)
	i := slices.IndexFunc(l.Zones, func(zone string) bool { return setName(l, zone) == args[1] })
	must.FailIf(r.replicas < 0, "required flag(s) \"replicas\" not set")
	if i < 0 || r.namespace != namespace {
		return act.Fail(1, "Error from server (NotFound): machinesets.machine.openshift.io %q not found", args[1])
	}
	zone, fails := l.Zones[i], ""
	if err := r.Mark(ctx, "launch", 0); err != nil {
		fails = err.Error()
	}
	mute := r.Mark(ctx, "ready", 0) != nil
	must.Do(l.Resize(ctx, zone, r.replicas, fails, mute))
	_, err = fmt.Fprintf(r.stdout, "machineset.machine.openshift.io/%s scaled\n", args[1])
	return err
}

func (r *run) patch(ctx context.Context, l *resources.Living, args []string) error {
	if done, err := r.patchInstall(ctx, l, args[0], args[1]); done || err != nil {
		return err
	}
	var change struct {
		Spec struct{ MastersSchedulable *bool }
	}
	if err := json.Unmarshal([]byte(r.patchText), &change); err != nil || r.patchType != "merge" || change.Spec.MastersSchedulable == nil ||
		!strings.HasPrefix(args[0], "scheduler") || args[1] != "cluster" {
		return errors.New("the stand-in merges spec.mastersSchedulable of the scheduler \"cluster\" only")
	}
	if err := l.SetSchedulable(ctx, *change.Spec.MastersSchedulable); err != nil {
		return err
	}
	_, err := fmt.Fprintln(r.stdout, "scheduler.config.openshift.io/cluster patched")
	return err
}

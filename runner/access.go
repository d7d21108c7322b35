package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/names"
)

// changeAccess brings the accounts of a ready cluster into agreement with what the server says. It records nothing: the server noted what
// may be made before it said so.
func (a *attempt) changeAccess(ctx context.Context) error {
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.KubeconfigRef) }},
		{"accessing", 20, "changing who has access", a.accessing},
	} {
		if err := a.begin(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// accessing makes and removes accounts. What cannot be done is reported for each, and the attempt fails because of the first.
func (a *attempt) accessing(ctx context.Context) error {
	work, err := a.api.accessWork(ctx)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // the answer said stop, and what it contains is not ours to do
		return context.Cause(ctx)
	}
	trouble := a.removeAccounts(ctx, work)
	if trouble == nil {
		trouble = a.giveAll(ctx, work.Give)
	} else if ctx.Err() == nil { // an account that is to be made may still be valid with another token
		a.reportAccess(contract.AccessState{}, trouble, work.Give...)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if trouble == nil {
		return nil
	}
	return failure{
		Reason: "AccessUnchanged", Whose: contract.WhoseCloud, Retryable: !errors.Is(trouble, errRefusedByOC),
		Message: a.cfg.Redact.Text(trouble.Error()), Next: "check that the cluster's API works and that the runner can reach it; docs/runbooks/access-not-revoked.md has the steps",
	}
}

// giveAccess makes the access that was asked for with a new cluster, in which there is none to remove. The cluster is up whatever happens to
// it: what is missing is tried again beside the ready cluster. An error means that the attempt was stopped.
func (a *attempt) giveAccess(ctx context.Context) error {
	work, err := a.api.accessWork(ctx)
	if err == nil && len(work.Give) > 0 {
		if err = a.useOwnKubeconfig(ctx); err == nil {
			err = a.giveAll(ctx, work.Give)
		}
	}
	return a.unlessStopped(ctx, "giving access", err)
}

// accessBeside changes access while the attempt waits for something else, if the server's last answer asked for it.
func (a *attempt) accessBeside(ctx context.Context) error {
	asked := a.api.accessAsked()
	if asked == 0 || asked == a.accessSeen {
		return nil
	}
	a.accessSeen = asked // a failure is left to an attempt of its own
	return a.unlessStopped(ctx, "changing access", a.accessing(ctx))
}

// unlessStopped notes an error, and returns it only if the attempt was stopped.
func (a *attempt) unlessStopped(ctx context.Context, what string, err error) error {
	var asked stopAsked
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &asked), errors.Is(err, ErrFenced), errors.Is(err, errLeaseOver):
		return err
	}
	a.note("%s failed, and an attempt of its own tries again: %s", what, strings.ReplaceAll(err.Error(), a.cfg.WorkDir, "…"))
	return nil
}

// giveAll makes accesses and returns the first error.
func (a *attempt) giveAll(ctx context.Context, give []contract.Access) (trouble error) {
	if len(give) == 0 {
		return nil
	}
	if err := a.makeAccounts(ctx, give); err != nil {
		a.reportAccess(contract.AccessState{}, err, give...)
		return err
	}
	for _, one := range give {
		state, err := a.makeToken(ctx, one)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.reportAccess(state, err, one)
		if trouble == nil {
			trouble = err
		}
	}
	return trouble
}

// reportAccess reports what became of accesses as a fact, which is delivered reliably.
func (a *attempt) reportAccess(state contract.AccessState, err error, of ...contract.Access) {
	var states []contract.AccessState
	for _, one := range of {
		said := state
		if said.ID = one.ID; err != nil {
			said = contract.AccessState{ID: one.ID, Trouble: a.cfg.Redact.Text(err.Error())}
		}
		states = append(states, said)
	}
	a.say.Fact(contract.Report{Access: states})
}

// accessLabel marks what the runner makes for access.
const accessLabel = "ocpctl.io/access"

// removeAccounts removes every account of ours that is not to stay: what was revoked or has expired, what an earlier attempt began to make,
// and what no row names.
func (a *attempt) removeAccounts(ctx context.Context, work contract.AccessWork) error {
	there, err := a.accounts(ctx)
	if err == nil {
		var gone []string
		for _, account := range there {
			if !slices.Contains(work.Keep, account) {
				gone = append(gone, account)
			}
		}
		for _, one := range work.Take {
			if !slices.Contains(gone, one.Account) {
				gone = append(gone, one.Account)
			}
		}
		err = a.deleteAccounts(ctx, gone)
	}
	switch {
	case ctx.Err() != nil || len(work.Take) == 0:
		return err
	case err != nil:
		a.reportAccess(contract.AccessState{}, err, work.Take...)
		return err
	}
	for _, one := range work.Take {
		a.note("the access of %s as %s is removed", one.Reader, one.Role)
	}
	a.reportAccess(contract.AccessState{Removed: true}, nil, work.Take...)
	return nil
}

// accounts lists the accounts that were made for access.
func (a *attempt) accounts(ctx context.Context) (found []string, err error) {
	var document []byte
	err = a.again(ctx, time.Now().Add(a.cfg.Timings.Reach), func() (err error) {
		document, err = a.ask(ctx, "get", "serviceaccounts", "-n", names.AccessNamespace, "-l", accessLabel, "-o", "json")
		return err
	})
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
		}
	}
	if err := json.Unmarshal(document, &list); err != nil {
		return nil, errors.New("oc get serviceaccounts: the answer is not a list")
	}
	for _, item := range list.Items {
		found = append(found, item.Metadata.Name)
	}
	return found, nil
}

// deleteAccounts deletes accounts and what binds them to roles. With its account, every token dies. The rights go first.
func (a *attempt) deleteAccounts(ctx context.Context, accounts []string) error {
	if len(accounts) == 0 {
		return nil
	}
	var bindings []string
	for _, account := range accounts {
		for _, role := range clusterRoles {
			bindings = append(bindings, bindingName(account, role))
		}
	}
	until := time.Now().Add(a.cfg.Timings.Reach)
	for _, args := range [][]string{
		append([]string{"delete", "clusterrolebindings", "--ignore-not-found"}, bindings...),
		append([]string{"delete", "serviceaccounts", "-n", names.AccessNamespace, "--ignore-not-found"}, accounts...),
	} {
		if err := a.again(ctx, until, func() error { return a.runOC(ctx, nil, args...) }); err != nil {
			return err
		}
	}
	return nil
}

// clusterRoles are all that an account may be bound to.
var clusterRoles = []string{"view", "cluster-reader", "edit", "cluster-admin"}

// boundTo returns the cluster roles of a role: those of Kubernetes, and for a viewer also OpenShift's cluster-reader, which may read what
// belongs to no namespace. A cluster without that role ignores its binding.
func boundTo(role string) []string {
	switch role {
	case "view":
		return []string{"view", "cluster-reader"}
	case "edit":
		return []string{"edit"}
	case "admin":
		return []string{"cluster-admin"}
	}
	return nil
}

func bindingName(account, role string) string { return "ocpctl-access-" + account + "-" + role }

// makeAccounts makes the namespace, an account for each access and its bindings.
func (a *attempt) makeAccounts(ctx context.Context, give []contract.Access) error {
	objects := []any{object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": names.AccessNamespace, "labels": object{"app.kubernetes.io/managed-by": "ocpctl"}}}}
	for _, one := range give {
		roles := boundTo(one.Role)
		if len(roles) == 0 {
			return fmt.Errorf("%q is not a role in a cluster: this runner is older than the server", one.Role)
		}
		about := object{"labels": object{"app.kubernetes.io/managed-by": "ocpctl", accessLabel: "true"}, "annotations": object{"ocpctl.io/reader": one.Reader, "ocpctl.io/access-id": one.ID}}
		objects = append(objects, object{"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": false,
			"metadata": about.with("name", one.Account).with("namespace", names.AccessNamespace)})
		for _, role := range roles {
			objects = append(objects, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
				"metadata": about.with("name", bindingName(one.Account, role)),
				"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
				"subjects": []object{{"kind": "ServiceAccount", "name": one.Account, "namespace": names.AccessNamespace}}})
		}
	}
	manifests, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return fmt.Errorf("write the accounts: %w", err)
	}
	return a.again(ctx, time.Now().Add(a.cfg.Timings.Reach), func() error {
		return a.runOC(ctx, manifests, "apply", "--server-side", "--force-conflicts", "--field-manager=ocpctl", "-f", "-")
	})
}

// object is a part of a Kubernetes object.
type object map[string]any

// with returns a copy with one more field.
func (o object) with(name string, value any) object {
	out := object{name: value}
	for k, v := range o {
		out[k] = v
	}
	return out
}

// makeToken makes a token that expires, and stores the kubeconfig with it where the server finds it.
func (a *attempt) makeToken(ctx context.Context, one contract.Access) (contract.AccessState, error) {
	var token secret.Text
	var expires time.Time
	err := a.again(ctx, time.Now().Add(a.cfg.Timings.Reach), func() (err error) {
		token, expires, err = a.requestToken(ctx, one)
		return err
	})
	if err != nil {
		return contract.AccessState{}, err
	}
	kubeconfig, err := a.withToken(token)
	if err != nil {
		return contract.AccessState{}, err
	}
	at := a.cfg.Now().UTC()
	key := artifacts.CredentialKey(a.spec.Cluster, a.spec.Number, at, artifacts.AccessFile(one.ID))
	err = a.persist(ctx, a.cfg.Timings.Save, "an access", func(ctx context.Context) error {
		_, err := a.store.PutOnce(ctx, key, kubeconfig)
		return err
	})
	if err != nil {
		return contract.AccessState{}, fmt.Errorf("store the kubeconfig in the artifact bucket: %w", err)
	}
	a.note("%s has access as %s until %s", one.Reader, one.Role, expires.UTC().Format(time.RFC3339))
	return contract.AccessState{StoredAt: at, ExpiresAt: expires}, nil
}

// requestToken asks the cluster for a token (TokenRequest). The cluster may give it a shorter life.
func (a *attempt) requestToken(ctx context.Context, one contract.Access) (token secret.Text, expires time.Time, err error) {
	seconds := int(max(one.Lifetime, 10*time.Minute) / time.Second)
	raw, err := a.askSecret(ctx, "create", "token", one.Account, "-n", names.AccessNamespace, fmt.Sprintf("--duration=%ds", seconds), "-o", "json")
	if err != nil {
		return token, expires, err
	}
	var answer struct {
		Status struct {
			Token               string
			ExpirationTimestamp time.Time
		}
	}
	if json.Unmarshal([]byte(raw.Reveal()), &answer) != nil || answer.Status.Token == "" || answer.Status.ExpirationTimestamp.IsZero() {
		return token, expires, errors.New("oc create token: the answer has no token") // without the answer, which may be one
	}
	token = secret.New(answer.Status.Token)
	a.cfg.Redact.Add(token)
	return token, answer.Status.ExpirationTimestamp, nil
}

// withToken returns the kubeconfig that the runner works with, with a token in place of the installer's certificate.
func (a *attempt) withToken(token secret.Text) ([]byte, error) {
	raw, err := os.ReadFile(a.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	var own struct {
		Clusters []struct {
			Cluster struct {
				Server string `yaml:"server"`
				CA     string `yaml:"certificate-authority-data"`
			} `yaml:"cluster"`
		} `yaml:"clusters"`
	}
	if yaml.Unmarshal(raw, &own) != nil || len(own.Clusters) == 0 {
		return nil, errors.New("the cluster's own kubeconfig names no cluster")
	}
	name := a.spec.Name
	var out bytes.Buffer
	err = yaml.NewEncoder(&out).Encode(object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []object{{"name": name, "cluster": object{"server": own.Clusters[0].Cluster.Server, "certificate-authority-data": own.Clusters[0].Cluster.CA}}},
		"contexts": []object{{"name": name, "context": object{"cluster": name, "user": name}}},
		"users":    []object{{"name": name, "user": object{"token": token.Reveal()}}},
	})
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	return out.Bytes(), nil
}

// useOwnKubeconfig uses the kubeconfig that the installer wrote.
func (a *attempt) useOwnKubeconfig(ctx context.Context) (err error) {
	if a.kubeconfig != "" {
		return nil
	}
	if a.oc, err = a.tools.OC(); err != nil {
		return a.noTool(ctx, "oc", err)
	}
	raw, err := os.ReadFile(filepath.Join(a.dir, "auth", "kubeconfig"))
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	if err := a.hideKeys(raw); err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	a.kubeconfig, err = a.secretFile("kubeconfig", secret.New(string(raw)))
	return err
}

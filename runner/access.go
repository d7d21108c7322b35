package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/status"
)

// changeAccess brings the accounts of a ready cluster into agreement with what the server says. It records nothing: the server noted what
// may be made before it said so.
func (a *attempt) changeAccess(ctx context.Context) error {
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.KubeconfigRef) }},
		{"accessing", 20, "changing who has access", func(ctx context.Context) error { return a.runAccess(ctx, false) }},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// runAccess makes and removes accounts. What cannot be done is reported for each, and the attempt fails because of the first. Beside other work
// it makes no accounts of the console, because the OAuth server takes minutes to read them.
func (a *attempt) runAccess(ctx context.Context, beside bool) error {
	work, err := a.api.accessWork(ctx)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // the answer said stop, and what it contains is not ours to do
		return context.Cause(ctx)
	}
	if work.Console == nil {
		work.Console = &contract.ConsoleWork{}
	} else if beside {
		work.Console.Give = nil
	}
	there, trouble := a.readAccess(ctx)
	if trouble == nil {
		trouble = a.compareAccess(ctx, there, work)
		trouble = cmp.Or(a.changeConsole(ctx, *work.Console, beside), trouble)
	} else if ctx.Err() == nil {
		a.reportAccess(contract.AccessState{}, trouble, slices.Concat(work.Take, work.Give, work.Console.Take, work.Console.Give)...)
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
			err = a.compareAccess(ctx, access{}, contract.AccessWork{Give: work.Give, Console: &contract.ConsoleWork{}})
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
	return a.unlessStopped(ctx, "changing access", a.runAccess(ctx, true))
}

// unlessStopped notes an error, and returns it only if the attempt was stopped.
func (a *attempt) unlessStopped(ctx context.Context, what string, err error) error {
	var asked status.StopAsked
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &asked), errors.Is(err, status.ErrFenced), errors.Is(err, status.ErrLeaseOver):
		return err
	}
	a.noteLine("%s failed; a separate attempt tries again: %s", what, strings.ReplaceAll(err.Error(), a.cfg.WorkDir, "…"))
	return nil
}

// compareAccess brings the accounts into agreement with the work, and returns the first error. Trouble with one of them keeps nobody else waiting.
func (a *attempt) compareAccess(ctx context.Context, there access, work contract.AccessWork) error {
	editors, undeleted := a.deleteGone(ctx, there, work)
	failed := a.makeAccounts(ctx, work.Give)
	for _, one := range work.Give {
		if one.Role == "edit" && failed[one.ID] == nil {
			editors = append(editors, subjectOf(one.Account))
		}
	}
	requesters := there.editingUsers()
	for _, one := range slices.Concat(work.Console.Keep, work.Console.Give, work.Console.Take) {
		requesters[one.Account] = requesters[one.Account] || one.Role == "edit"
	}
	unbound := a.bindNamespaces(ctx, there, append(editors, consoleEditors(*work.Console)...), requesters)
	trouble := a.reportTaken(ctx, work.Take, cmp.Or(undeleted, unbound))
	for _, one := range work.Give {
		err := failed[one.ID]
		if err == nil && one.Role == "edit" {
			err = unbound
		}
		var state contract.AccessState
		if err == nil {
			state, err = a.makeToken(ctx, one)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.reportAccess(state, err, one)
		trouble = cmp.Or(trouble, err)
	}
	return trouble
}

// mostReported is how many accesses one report is about at most.
const mostReported = 500

// reportAccess reports what became of accesses as a fact, which is delivered reliably.
func (a *attempt) reportAccess(state contract.AccessState, err error, of ...contract.Access) {
	for part := range slices.Chunk(of, mostReported) {
		var states []contract.AccessState
		for _, one := range part {
			said := state
			if said.ID = one.ID; err != nil {
				said = contract.AccessState{ID: one.ID, Trouble: a.cfg.Redact.Text(err.Error())}
			}
			states = append(states, said)
		}
		a.say.Fact(contract.Report{Access: states})
	}
}

// object is a part of a Kubernetes object.
type object map[string]any

// withField returns a copy with one more field.
func (o object) withField(name string, value any) object {
	out := object{name: value}
	maps.Copy(out, o)
	return out
}

// makeToken makes a token that expires, and stores the kubeconfig with it where the server finds it.
func (a *attempt) makeToken(ctx context.Context, one contract.Access) (contract.AccessState, error) {
	var token secret.Text
	var expires time.Time
	err := a.retryUntil(ctx, time.Now().Add(a.cfg.Timings.Reach), func() (err error) {
		token, expires, err = a.requestToken(ctx, one)
		return err
	})
	if err != nil {
		return contract.AccessState{}, err
	}
	kubeconfig, err := a.withUser(object{"token": token.Reveal()})
	if err != nil {
		return contract.AccessState{}, err
	}
	return a.storeAccess(ctx, one, kubeconfig, expires)
}

// storeAccess stores a reader's kubeconfig.
func (a *attempt) storeAccess(ctx context.Context, one contract.Access, kubeconfig []byte, expires time.Time) (contract.AccessState, error) {
	at := a.cfg.Now().UTC()
	key := artifacts.CredentialKey(a.spec.Cluster, a.spec.Number, at, artifacts.AccessFile(one.ID))
	err := a.keepTrying(ctx, a.cfg.Timings.Save, "an access", func(ctx context.Context) error {
		_, err := a.store.PutOnce(ctx, key, kubeconfig)
		return err
	})
	if err != nil {
		return contract.AccessState{}, fmt.Errorf("store the kubeconfig in the artifact bucket: %w", err)
	}
	a.noteLine("%s has access as %s until %s", one.Reader, one.Role, expires.UTC().Format(time.RFC3339))
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

// withUser returns the kubeconfig that the runner works with, with another user in place of the installer's.
func (a *attempt) withUser(user object) ([]byte, error) {
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
	return writeKubeconfig(a.spec.Name, "", own.Clusters[0].Cluster.Server, own.Clusters[0].Cluster.CA, user)
}

// writeKubeconfig writes a kubeconfig with one cluster, user and context of the same name. ca is in base64; namespace is what it works in; empty:
// the usual one.
func writeKubeconfig(name, namespace, server, ca string, user object) ([]byte, error) {
	within := object{"cluster": name, "user": name}
	if namespace != "" {
		within["namespace"] = namespace
	}
	var out bytes.Buffer
	err := yaml.NewEncoder(&out).Encode(object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []object{{"name": name, "cluster": object{"server": server, "certificate-authority-data": ca}}},
		"contexts": []object{{"name": name, "context": within}},
		"users":    []object{{"name": name, "user": user}},
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

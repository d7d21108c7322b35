package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// forgedResult is a successful result whose outputs point somewhere else than to the runner's own cluster. The outputs are forged as
// JSON, because a runner may send fields that the contract does not have, such as references to credentials.
type forgedResult struct {
	name, tried string
	short       bool
	forge       func(o map[string]any, v prey, own contract.Spec)
}

// ofAddresses forges the URLs of the API and of the console.
func ofAddresses(change func(address string, v prey, own contract.Spec) string) func(map[string]any, prey, contract.Spec) {
	return func(o map[string]any, v prey, own contract.Spec) {
		for _, field := range []string{"apiUrl", "consoleUrl"} {
			address, _ := o[field].(string)
			o[field] = change(address, v, own)
		}
	}
}

func forgedResults() []forgedResult {
	return []forgedResult{
		{"kubeconfig", "name the victim's kubeconfig as the own one, then download it", true, func(o map[string]any, v prey, _ contract.Spec) { o["kubeconfigRef"] = v.KubeconfigRef }},
		{"kubeadmin", "name the victim's password as the own one, then have it shown", false, func(o map[string]any, v prey, _ contract.Spec) { o["kubeadminRef"] = v.KubeadminRef }},
		{"stored-at", "give a time of storage that leads out of the own prefix", false, func(o map[string]any, v prey, _ contract.Spec) {
			o["storedAt"] = "../../" + v.ID + "/kubeconfig"
		}},
		{"hosts", "name an API and a console on a host of the attacker's", true, ofAddresses(func(string, prey, contract.Spec) string { return "https://api.evil.example:6443" })},
		{"victims-hosts", "name the victim's API and console", false, ofAddresses(func(a string, v prey, own contract.Spec) string { return strings.Replace(a, own.Name, v.Name, 1) })},
		{"user-info", "put the own domain into the user part of an address", false, ofAddresses(func(_ string, _ prey, own contract.Spec) string {
			return "https://api." + own.Name + "." + own.BaseDomain + "@evil.example"
		})},
		{"javascript", "name a console at a javascript: address", false, func(o map[string]any, _ prey, _ contract.Spec) {
			o["consoleUrl"] = "javascript:alert(document.cookie)//"
		}},
		{"plain-http", "name an API and a console without TLS", false, ofAddresses(func(a string, _ prey, _ contract.Spec) string { return strings.Replace(a, "https:", "http:", 1) })},
	}
}

// play lets a runner install and forges its report, then requests everything that is handed out about that cluster.
func (f forgedResult) play(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	k, id := must.Get2(t.capture(ctx, "res-"+f.name, callCreated))
	defer k.stop()
	var said map[string]any
	must.Do(json.Unmarshal(k.body, &said))
	outputs, ok := said["outputs"].(map[string]any)
	must.FailIf(!ok, "the runner's result has no outputs: %.200s", k.body)
	f.forge(outputs, v, k.claimed.Spec)
	got := must.Get(k.ask(ctx, http.MethodPost, k.path("result"), said))
	k.pass(got)
	found := ""
	if got.status == http.StatusOK {
		found = must.Get(t.handedOut(ctx, id, v, k.claimed.Spec))
	}
	must.Do(t.endOf(ctx, id))
	throughIf(found != "", "the result was answered %d, and %s", got.status, found)
	return held("the result was answered %d; outputs, kubeconfig and password are the cluster's own or refused", got.status)
}

// endOf destroys a cluster of the attacker's.
func (t *target) endOf(ctx context.Context, id string) error {
	c, err := t.as(attacker)
	if err != nil {
		return err
	}
	return c.destroy(ctx, id)
}

// handedOut requests everything that the attacker can have of a cluster and returns what is not the cluster's own.
func (t *target) handedOut(ctx context.Context, id string, v prey, own contract.Spec) (_ string, err error) {
	defer must.Catch(&err)
	c := must.Get(t.as(attacker))
	must.Get(t.becomes(ctx, id, "ready"))
	found, err := t.shown(ctx, c, id, v, own)
	if err != nil || found != "" {
		return found, err
	}
	var foreign []string
	must.Do(t.pool.QueryRow(ctx, `
		SELECT array_agg(ref) FROM cluster_outputs o, unnest(ARRAY[o.kubeconfig_s3_uri, o.kubeadmin_secret_ref, o.metadata_s3_uri]) AS ref
		 WHERE o.cluster_id = $1 AND ref <> '' AND (ref NOT LIKE 's3://' || $2 || '/%' OR ref NOT LIKE '%/' || $1 || '/%' OR ref LIKE '%..%')`,
		id, devstack.Bucket).Scan(&foreign))
	if len(foreign) > 0 {
		return "its row refers to " + strings.Join(foreign, " and "), nil
	}
	return "", nil
}

// shown returns what people see and download about a cluster that is not its own.
func (t *target) shown(ctx context.Context, c caller, id string, v prey, own contract.Spec) (_ string, err error) {
	defer must.Catch(&err)
	got := must.Get(c.ask(ctx, http.MethodGet, "/api/v1/clusters/"+id+"/outputs", nil))
	var shown v1.Outputs
	if got.status == http.StatusOK {
		must.Do(json.Unmarshal(got.body, &shown))
		for _, address := range []string{shown.APIURL, shown.ConsoleURL} {
			if at, err := url.Parse(address); err != nil || at.Scheme != "https" || !strings.HasSuffix(at.Hostname(), "."+own.Name+"."+own.BaseDomain) {
				return fmt.Sprintf("people are shown %q as its address", address), nil
			}
		}
	}
	got = must.Get(c.ask(ctx, http.MethodGet, "/api/v1/clusters/"+id+"/kubeconfig", nil))
	if got.status == http.StatusOK && string(got.body) == v.kubeconfig {
		return "the attacker downloaded the victim's kubeconfig", nil
	}
	if got.status == http.StatusOK && !strings.Contains(string(got.body), own.Name+"."+own.BaseDomain) {
		return fmt.Sprintf("the attacker downloaded what is not its cluster's kubeconfig: %.60q", got.body), nil
	}
	return t.passwordOf(ctx, c, id, v)
}

// passwordOf lets a platform admin approve the attacker's request for the password and returns the result.
func (t *target) passwordOf(ctx context.Context, c caller, id string, v prey) (_ string, err error) {
	defer must.Catch(&err)
	var asked struct{ ApprovalID string }
	must.Do(c.expect(ctx, http.StatusAccepted, &asked, http.MethodPost, "/api/v1/clusters/"+id+"/break-glass", map[string]string{"reason": "to look"}))
	admin := must.Get(t.as(oidc.Admin))
	must.Do(admin.expect(ctx, http.StatusOK, nil, http.MethodPost, "/api/v1/approvals/"+asked.ApprovalID+"/approve", struct{}{}))
	got, err := c.ask(ctx, http.MethodPost, "/api/v1/clusters/"+id+"/kubeadmin-links", nil)
	if err != nil || got.status != http.StatusCreated {
		return "", err // refused: nothing is handed out
	}
	var link v1.Link
	must.Do(json.Unmarshal(got.body, &link))
	shown := must.Get(c.ask(ctx, http.MethodPost, "/api/v1/links/"+path.Base(link.URL), nil))
	_, key, _ := strings.Cut(strings.TrimPrefix(v.KubeadminRef, "s3://"), "/")
	password := must.Get(t.object(ctx, key))
	for what, secret := range map[string]string{"password": strings.TrimSpace(string(password)), "kubeconfig": v.kubeconfig} {
		quoted := must.Get(json.Marshal(secret))
		if strings.Contains(string(shown.body), strings.Trim(string(quoted), `"`)) {
			return "the attacker was shown the victim's " + what, nil
		}
	}
	return "", nil
}

package api

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// leaf is one field of a document, by its path in JSON.
type leaf struct {
	path string
	at   reflect.Value
}

// leaves lists every field of a document that holds a value of its own. Empty lists count as one field of their element.
func leaves(path string, v reflect.Value) (all []leaf) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return []leaf{{path, v}}
		}
		return leaves(path, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return []leaf{{path, v}}
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			all = append(all, leaves(strings.TrimPrefix(path+"."+name, "."), v.Field(i))...)
		}
		return all
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, leaves(path+"[]", v.Index(i))...)
		}
		return all
	}
	return []leaf{{path, v}}
}

// documents are one of each kind that a runner sends, whole and with an element in every list.
func documents(good contract.Record, r *runner) map[string]any {
	of := r.scope()
	return map[string]any{
		"claim":  &contract.Claim{Pod: "pod-1"},
		"record": &good,
		"reserve": &contract.Demand{Account: "123456789012", Region: of.Region, Quotas: []contract.Quota{{
			Service: "ec2", Code: "L-0263D0A3", Scope: "us-east-1a", Name: "Elastic IPs", Limit: 5, Need: 1, UsedBy: map[string]int{of.Cluster: 0},
		}}},
		"report": &contract.Report{
			Seq: 1, Phase: "installing", Percent: 5, Step: "step", Account: "123456789012", Log: "a line\n", Snapshots: slices.Clone(good.Snapshots),
			Pass: &contract.Pass{Number: 1, Account: "123456789012", Identities: []string{good.Identity.InfraID}, Control: "seen", Clean: true,
				Queries: []contract.Query{{Service: "ec2", Call: "DescribeVpcs"}}, Leftovers: []contract.Leftover{{Type: "vpc", ID: "vpc-1", Refused: &contract.Refusal{Reason: "ResourceInUse"}}}},
			ToolExit: &contract.ToolExit{}, Addons: []contract.AddonState{{Name: "a"}}, Access: []contract.AccessState{{ID: r.anAccess()}},
		},
		"result": &contract.Result{Outcome: "succeeded", Outputs: &contract.Outputs{APIURL: of.APIURL(), ConsoleURL: of.ConsoleURL(), StoredAt: servicetest.StoredAt},
			Workers: new(1), Addons: new(1), Asleep: new(true), Links: &[]contract.Link{{Title: "a", URL: "https://web.apps." + of.Domain()}}},
	}
}

// anAccess is the id of an access to the runner's cluster, or of none if it has none.
func (r *runner) anAccess() (id string) {
	r.Helper()
	require.NoError(r, r.store.Pool().QueryRow(r.Context(),
		`SELECT coalesce(min(x.id), 'acc_00000000000000000000000000') FROM access x JOIN attempts a USING (cluster_id) WHERE a.id = $1`, r.id).Scan(&id))
	return id
}

// fieldsOf lists every field of a type that holds a value of its own, as leaves does for a value.
func fieldsOf(path string, of reflect.Type) (all []string) {
	switch of.Kind() {
	case reflect.Pointer:
		return fieldsOf(path, of.Elem())
	case reflect.Slice:
		return fieldsOf(path+"[]", of.Elem())
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			return []string{path}
		}
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			all = append(all, fieldsOf(path+"."+name, field.Type)...)
		}
		return all
	}
	return []string{path}
}

// Each field that a runner may report stands in the threat model with what bounds it, and is among those that a hostile runner spoils.
func TestTheThreatModelBoundsEveryFieldOfARunner(t *testing.T) {
	_, _, r := started(t)
	raw, err := os.ReadFile("../../docs/threat-model.md")
	require.NoError(t, err)
	for what, document := range documents(r.record(), r) {
		var spoiled []string
		for _, field := range leaves(what, reflect.ValueOf(document)) {
			spoiled = append(spoiled, field.path)
		}
		for _, path := range fieldsOf(what, reflect.TypeOf(document)) {
			require.Contains(t, string(raw), "`"+path+"`")
			require.Contains(t, spoiled, path)
		}
	}
}

// spoil puts something into a field that no honest runner would.
func spoil(t *rapid.T, field leaf, poison []string) {
	switch at := field.at; at.Kind() {
	case reflect.String:
		at.SetString(rapid.SampledFrom(poison).Draw(t, field.path))
	case reflect.Int, reflect.Int64:
		at.SetInt(rapid.SampledFrom([]int64{-1, 0, 1, 2, 1 << 31}).Draw(t, field.path))
	case reflect.Bool:
		at.SetBool(rapid.Bool().Draw(t, field.path))
	case reflect.Map:
		at.Set(reflect.ValueOf(map[string]int{rapid.SampledFrom(poison).Draw(t, field.path): 1 << 20}))
	case reflect.Struct: // a time
		at.Set(reflect.ValueOf(rapid.SampledFrom([]time.Time{{}, servicetest.StoredAt, servicetest.StoredAt.AddDate(100, 0, 0)}).Draw(t, field.path)))
	}
}

// A runner that went wrong holds one attempt's token. Whatever it reports, in every field and any combination, changes
// nothing of another team's cluster, and its own cluster is never torn down by a name that is not its own.
func TestAHostileRunnerReachesNoOtherCluster(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	victim := h.make(will, "bank")
	h.ready(victim.ClusterID)
	secret := h.shelf[servicetest.CredentialRef(victim.ClusterID, artifacts.Kubeconfig)]
	hostile := h.make(oidc.Requester, "shop")
	h.step(hostile.ClusterID)
	open, bearer := h.attempt(hostile.ClusterID)
	r := &runner{h, open.Attempt, bearer}
	r.say("claim", contract.Claim{Pod: "pod-1"})

	spec, err := h.store.Attempts.AttemptSpec(t.Context(), r.attemptOf(victim.ClusterID))
	require.NoError(t, err)
	theirs := spec.Identities[0]
	poison := []string{
		"", "\x00", "*", "../" + victim.ClusterID, victim.ClusterID, victim.JobID, spec.Attempt, "bank", spec.Token,
		theirs.InfraID, theirs.ClusterUUID, theirs.Metadata, "bank-abcdefghij", "shop-00000", r.record().Identity.ClusterUUID,
		spec.Artifacts[0].Key, spec.Artifacts[0].ManifestKey, spec.Artifacts[0].SHA256, spec.Row.Outputs.KubeconfigRef, spec.Row.Outputs.KubeadminRef,
		spec.Row.Outputs.APIURL, spec.Row.Outputs.ConsoleURL, "https://evil.example/", "javascript:alert(1)", "eu-west-1", "999999999999",
		"INSTALL_DIR_SNAPSHOT", "AUTH_BUNDLE", "LOG", "succeeded", "failed", "destroying", "verifying", "ready",
		strings.ReplaceAll(r.record().Identity.Metadata, "shop-x7k2p", theirs.InfraID),
		strings.Replace(r.record().Identity.Metadata, `"identifier":[`, `"identifier":[{},`, 1),
	}
	poison = append(poison, (&runner{h, r.attemptOf(victim.ClusterID), ""}).anAccess())
	rows := servicetest.Keep(t, h.store)
	before := h.everythingOf(victim.ClusterID)
	paths := []string{"claim", "record", "reserve", "report", "result"}
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 5).Draw(rt, "documents") {
			what := rapid.SampledFrom(paths).Draw(rt, "what")
			document := documents(r.record(), r)[what]
			ofCreate := rapid.Bool().Draw(rt, "only what a create reports")
			switch d := document.(type) {
			case *contract.Report:
				if d.Seq = rapid.IntRange(1, 9).Draw(rt, "seq"); ofCreate {
					d.Pass, d.Addons = nil, nil
					if rapid.Bool().Draw(rt, "no access") {
						d.Access = nil
					}
				}
			case *contract.Result:
				if ofCreate {
					d.Workers, d.Asleep, d.Links = nil, nil, nil
				}
			}
			fields := leaves("", reflect.ValueOf(document))
			for range rapid.IntRange(0, 3).Draw(rt, "spoilt") {
				spoil(rt, rapid.SampledFrom(fields).Draw(rt, "field"), poison)
			}
			answer, raw := h.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/"+what, r.bearer, document)
			require.Less(rt, answer.StatusCode, 500, "%s", raw)
		}
		require.Equal(rt, before, h.everythingOf(victim.ClusterID), "the other team's cluster is as it was")
		h.isItsOwn(rt, hostile.ClusterID, secret)
		rows.Restore(rows.Changed())
	})
	honest := documents(r.record(), r) // what was spoilt above is taken where it is not
	report, result := honest["report"].(*contract.Report), honest["result"].(*contract.Result)
	report.Pass, report.Addons, report.Access, result.Workers, result.Asleep, result.Links = nil, nil, nil, nil, nil, nil
	for _, what := range []string{"claim", "reserve", "record", "report", "result"} {
		answer, raw := h.ask(http.MethodPost, statusPath+"attempts/"+r.id+"/"+what, r.bearer, honest[what])
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s: %s", what, raw)
		require.NotContains(t, string(raw), `"stop"`, what)
	}
}

// attemptOf is the newest attempt of a cluster, open or closed.
func (r *runner) attemptOf(cluster string) (id string) {
	r.Helper()
	require.NoError(r, r.store.Pool().QueryRow(r.Context(), `SELECT id FROM attempts WHERE cluster_id = $1 ORDER BY number DESC LIMIT 1`, cluster).Scan(&id))
	return id
}

// everythingOf is all that is stored of a cluster, as text.
func (h *fixture) everythingOf(cluster string) (all string) {
	h.Helper()
	for _, sql := range []string{
		`SELECT c::text FROM clusters c WHERE id = $1`, `SELECT a::text FROM attempts a WHERE cluster_id = $1`, `SELECT j::text FROM jobs j WHERE cluster_id = $1`,
		`SELECT a::text FROM artifacts a WHERE cluster_id = $1`, `SELECT o::text FROM cluster_outputs o WHERE cluster_id = $1`, `SELECT r::text FROM reservations r WHERE cluster_id = $1`,
		`SELECT r::text FROM reports r JOIN attempts a ON a.id = attempt_id WHERE cluster_id = $1`, `SELECT v::text FROM verifications v JOIN attempts a ON a.id = attempt_id WHERE cluster_id = $1`,
		`SELECT l::text FROM log_chunks l JOIN attempts a ON a.id = attempt_id WHERE cluster_id = $1`, `SELECT e::text FROM audit_events e WHERE target_cluster_id = $1`,
		`SELECT c::text FROM conditions c WHERE cluster_id = $1`, `SELECT a::text FROM access a WHERE cluster_id = $1`,
	} {
		var part string
		require.NoError(h, h.store.Pool().QueryRow(h.Context(), `SELECT coalesce(string_agg(q.text, E'\n' ORDER BY q.text), '') FROM (`+sql+`) q (text)`, cluster).Scan(&part))
		all += part + "\n"
	}
	return all
}

// isItsOwn requires that what is known of a cluster leads to nothing but itself: what a teardown would work by, what is
// restored, and what is handed out.
func (h *fixture) isItsOwn(t *rapid.T, cluster, foreignSecret string) {
	scope, err := h.store.Attempts.AttemptScope(h.Context(), (&runner{fixture: h}).attemptOf(cluster))
	require.NoError(t, err)
	row, err := h.store.Attempts.AttemptSpec(h.Context(), (&runner{fixture: h}).attemptOf(cluster))
	require.NoError(t, err)
	row.Kind = lifecycle.Destroy
	got, err := json.Marshal(toSpec(row, RunnerSettings{Installation: "test", Bucket: "artifacts"}))
	require.NoError(t, err)
	require.NotContains(t, string(got), "bank", "what a teardown is told")
	require.NotContains(t, string(got), "evil.example")
	for _, id := range toSpec(row, RunnerSettings{Installation: "test", Bucket: "artifacts"}).Identities {
		require.True(t, id.InfraID == "" || strings.HasPrefix(id.InfraID, scope.Name+"-"))
	}
	for _, s := range row.Artifacts {
		require.NoError(t, artifacts.Snapshot{Type: artifacts.Type(s.Type), Key: s.Key, ManifestKey: s.ManifestKey}.CheckKeys(cluster, scope.Number))
	}
	answer, raw := h.ask(http.MethodGet, "/api/v1/clusters/"+cluster+"/kubeconfig", h.as(oidc.Requester), nil)
	require.NotContains(t, string(raw), foreignSecret)
	require.NotEqual(t, http.StatusOK, answer.StatusCode, "nothing was stored for it")
}

func TestAClosedAttemptIsToldNothing(t *testing.T) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	failed := contract.Result{Outcome: "failed", Reason: "InstallFailed", Message: "it did not come up"}
	answer, status := r.say("result", failed)
	require.Equal(t, []any{http.StatusOK, ""}, []any{status, answer.Token}, "no token is renewed once the attempt is over")
	answer, status = r.say("result", failed)
	require.Equal(t, []any{http.StatusOK, ""}, []any{status, answer.Token}, "its answer may have been lost, so it is repeated")

	path := statusPath + "attempts/" + r.id
	h.refused(http.MethodPost, path+"/claim", r.bearer, contract.Claim{Pod: "pod-1"}, http.StatusConflict)
	before := h.everythingOf(cluster)
	for what, document := range documents(r.record(), r) {
		if what == "claim" {
			continue
		}
		answer, raw := h.ask(http.MethodPost, path+"/"+what, r.bearer, document)
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
		require.Contains(t, string(raw), `"stop":"attempt 1 is closed`, what)
		require.NotContains(t, string(raw), `"token":"ey`, what)
	}
	require.Equal(t, before, h.everythingOf(cluster))
}

// What is stored by hand, or was before references were checked, is not handed out either.
func TestAReferenceToAnotherClustersCredentialsIsNeverFollowed(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	bank, shop := h.make(will, "bank"), h.make(oidc.Requester, "shop")
	h.ready(bank.ClusterID)
	h.ready(shop.ClusterID)
	path := "/api/v1/clusters/" + shop.ClusterID
	var mine, theirs v1.Accesses
	h.get(path+"/access", &mine)
	h.does(http.MethodGet, "/api/v1/clusters/bank/access", h.as(will), nil, http.StatusOK, &theirs)
	own, other := mine.Items[0].AccessID, theirs.Items[0].AccessID
	points := func(ref string) {
		_, err := h.store.Pool().Exec(t.Context(), `UPDATE access SET ref = $2 WHERE id = $1`, own, ref)
		require.NoError(t, err)
	}
	for _, ref := range []string{
		servicetest.AccessRef(bank.ClusterID, other), servicetest.AccessRef(bank.ClusterID, own), servicetest.AccessRef(shop.ClusterID, other),
		servicetest.CredentialRef(shop.ClusterID, artifacts.Kubeconfig), servicetest.CredentialRef(bank.ClusterID, artifacts.Kubeconfig),
	} {
		points(ref)
		h.refused(http.MethodGet, path+"/kubeconfig", h.as(oidc.Requester), nil, http.StatusInternalServerError)
	}
	var link v1.Link
	h.does(http.MethodPost, path+"/kubeconfig-links", h.as(oidc.Requester), nil, http.StatusCreated, &link)
	h.refused(http.MethodPost, "/api/v1/links/"+strings.TrimPrefix(link.URL, "http://ocpctl.test/links/"), h.as(oidc.Requester), nil, http.StatusInternalServerError)
	var out v1.Outputs
	h.get(path+"/outputs", &out)
	raw, err := json.Marshal(out)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "s3://")
	points(servicetest.AccessRef(shop.ClusterID, own))
	h.does(http.MethodGet, path+"/kubeconfig", h.as(oidc.Requester), nil, http.StatusOK, nil)
}

func TestARefusedReadingIsInTheTrail(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	bank := h.make(will, "bank")
	h.ready(bank.ClusterID)
	path := "/api/v1/clusters/" + bank.ClusterID
	refusals := func(action string) (actors []string) {
		var line v1.Timeline
		h.does(http.MethodGet, path+"/timeline?limit=500", h.as(will), nil, http.StatusOK, &line)
		for _, e := range line.Items {
			if e.Action == action {
				actors = append(actors, e.Actor)
			}
		}
		return actors
	}
	for range 3 {
		h.refused(http.MethodGet, path+"/kubeconfig", h.as(oidc.Requester), nil, http.StatusNotFound)
		h.refused(http.MethodGet, path+"/kubeconfig", h.as(oidc.Auditor), nil, http.StatusForbidden)
	}
	h.refused(http.MethodGet, "/api/v1/clusters/bank/kubeconfig", h.as(sam), nil, http.StatusNotFound)
	h.does(http.MethodPost, path+"/kubeconfig-links", h.as(both), nil, http.StatusCreated, nil)
	require.ElementsMatch(t, []string{h.id(oidc.Requester), h.id(oidc.Auditor), h.id(sam)}, refusals("kubeconfig.refused"), "each person once a minute")
	h.refused(http.MethodPost, path+"/break-glass", h.as(sam), map[string]string{"reason": "INC-1"}, http.StatusNotFound)
	require.Equal(t, []string{h.id(sam)}, refusals("kubeadmin.refused"))
	h.refused(http.MethodGet, "/api/v1/clusters/clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT/kubeconfig", h.as(sam), nil, http.StatusNotFound)
}

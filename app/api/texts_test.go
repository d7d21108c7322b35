package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// unkept are characters that PostgreSQL keeps in no text: a NUL, and bytes that are no UTF-8.
var unkept = []string{"a\x00b", "a\xff\xfeb"}

// Whatever a text holds, in a path, a parameter or a document, it is refused or cleaned: nothing fails on our side.
func TestNoTextBreaksAnything(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Admin, "shop")
	usable(h, made.ClusterID)
	doc, err := openapi3.NewLoader().LoadFromData(written)
	require.NoError(t, err)
	bearer, asked := h.as(oidc.Admin), 0
	send := func(operation, method, path string, body []byte) {
		asked++
		r, err := http.NewRequestWithContext(t.Context(), method, h.Server.URL+path, bytes.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+bearer)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(idempotencyKey, url.QueryEscape(string(body) + path)[:min(255, len(url.QueryEscape(string(body)+path)))])
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		said, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Less(t, answer.StatusCode, 500, "%s %s %s %q: %s", operation, method, path, body, said)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if strings.HasPrefix(path, statusPath) || op.OperationID == "watchClusters" {
				continue
			}
			whole := strings.NewReplacer("{id}", made.ClusterID, "{name}", "aws-standard", "{link}", "none").Replace(path)
			for _, evil := range unkept {
				if whole != path {
					send(op.OperationID, method, strings.NewReplacer("{id}", url.PathEscape("clu_"+evil), "{name}", url.PathEscape(evil), "{link}", url.PathEscape(evil)).Replace(path), []byte(`{"reason":"x"}`))
				}
				for _, p := range slices.Concat(item.Parameters, op.Parameters) {
					if p.Value.In == "query" {
						send(op.OperationID, method, whole+"?"+url.QueryEscape(p.Value.Name)+"="+url.QueryEscape(evil), []byte(`{}`))
					}
				}
				for _, body := range evilBodies(t, op, evil) {
					send(op.OperationID, method, whole, body)
				}
			}
		}
	}
	require.Greater(t, asked, 150)
}

// usable makes a cluster ready, with what people fetch of it.
func usable(h *fixture, id string) {
	h.Helper()
	for _, sql := range []string{
		`UPDATE jobs SET status = 'SUCCEEDED', ended_at = created_at WHERE cluster_id = $1`,
		`UPDATE clusters SET status = 'READY', phase = 'ready', ready_at = created_at WHERE id = $1`,
		`INSERT INTO cluster_outputs VALUES ($1, 'https://api', 'https://console', 's3://bucket/kubeconfig', 's3://bucket/kubeadmin', '')`,
	} {
		_, err := h.store.Pool().Exec(h.Context(), sql, id)
		require.NoError(h, err)
	}
}

// evilBodies are documents of an operation, each with one text that cannot be kept.
func evilBodies(t *testing.T, op *openapi3.Operation, evil string) (bodies [][]byte) {
	if op.RequestBody == nil {
		return nil
	}
	plausible := map[string]any{
		"reason": "because", "team": "platform", "owner": "maya", "kind": "principal", "with": "saml:will", "access": "see", "hours": 1, "replicas": 2,
		"costCenter": "sandbox", "environment": "test", "name": "evil", "profile": "aws-minimal-test",
	}
	schema := op.RequestBody.Value.Content.Get("application/json").Schema.Value
	for field, of := range schema.Properties {
		body := map[string]any{}
		for name := range schema.Properties {
			if value, known := plausible[name]; known {
				body[name] = value
			}
		}
		const mark = "EVIL"
		switch {
		case of.Value.Type.Is("string"):
			body[field] = mark
		case of.Value.Type.Is("object"):
			body[field] = map[string]string{mark: mark}
		default:
			continue
		}
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		bodies = append(bodies, bytes.ReplaceAll(raw, []byte(mark), []byte(strings.ReplaceAll(evil, "\x00", `\u0000`))))
	}
	return bodies
}

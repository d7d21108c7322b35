package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const (
	idempotencyKey = "Idempotency-Key"
	keyForm        = "1 to 255 visible characters, different for each operation; for example a UUID"
	maxKey         = 255
)

// CreateCluster implements POST /api/v1/clusters.
func (s *server) CreateCluster(w http.ResponseWriter, r *http.Request, params v1.CreateClusterParams) {
	if !s.checkKey(w, r, params.IdempotencyKey) {
		return
	}
	asked, raw, read := s.readCreateRequest(w, r)
	if !read {
		return
	}
	asked.Once = &store.Once{Key: "api:" + params.IdempotencyKey, Request: requestHash(r, raw)}
	made, err := s.App.Create(r.Context(), principal(r), asked)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if made.Replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	if made.Row.ID == "" {
		s.writeError(w, r, app.Refused(made.Verdict, nil))
		return
	}
	s.writeAccepted(w, made)
}

// readCreateRequest reads a create request. A body that is not a JSON object was answered already.
func (s *server) readCreateRequest(w http.ResponseWriter, r *http.Request) (app.CreateRequest, []byte, bool) {
	raw, read := s.readContent(w, r, maxBody)
	if !read {
		return app.CreateRequest{}, nil, false
	}
	if !json.Valid(raw) {
		writeProblem(w, http.StatusBadRequest, "The body is not a JSON object. GET /api/docs#createCluster shows an example.")
		return app.CreateRequest{}, nil, false
	}
	request := app.ReadCreateRequest(bytes.NewReader(raw))
	request.Source = policy.SourceAPI
	return request, raw, true
}

// checkKey answers a request with an invalid Idempotency-Key.
func (s *server) checkKey(w http.ResponseWriter, r *http.Request, key string) bool {
	if isVisible(key) {
		return true
	}
	s.writeError(w, r, &malformed{app.Error{Kind: app.Invalid, Message: "The request has an invalid header.", Fields: []app.Field{
		{Name: idempotencyKey, Detail: "it is empty, too long, or contains invisible characters", Accept: []string{keyForm}},
	}}})
	return false
}

func isVisible(key string) bool {
	return key != "" && len(key) <= maxKey && strings.IndexFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}

// requestHash distinguishes two requests with the same key.
func requestHash(r *http.Request, body []byte) string {
	sum := sha256.Sum256([]byte(r.Method + "\n" + r.URL.Path + "\n" + string(body)))
	return fmt.Sprintf("%x", sum)
}

// writeAccepted answers a create request whose cluster is there.
func (s *server) writeAccepted(w http.ResponseWriter, made app.Created) {
	row := made.Row
	w.Header().Set("Location", "/api/v1/clusters/"+row.ID)
	w.Header().Set("ETag", formatETag(row.Version))
	writeReply(w, jsonType, http.StatusAccepted, v1.Accepted{
		ClusterID: row.ID, JobID: row.JobID, Status: v1.Status(row.Status), Name: row.Name, URL: s.pageURL(row), DestroyAt: row.DestroyAt.UTC(),
		Position: made.Position(), ApprovalID: made.ApprovalID(), Reused: made.Reused, Run: clusterRun(row.Run), Message: describeAccepted(made),
	})
}

// describeAccepted says what was created or reused, and whether its run is watched.
func describeAccepted(made app.Created) string {
	text := verdictText(made.Verdict)
	if made.Reused {
		text = messages.RunReused(made.Row.Name, string(made.Row.Status))
	}
	switch run := made.Row.Run; {
	case run.ID == "":
	case run.Unwatched != "":
		text += " " + messages.Unwatched(run.Unwatched)
	default:
		text += " " + "It ends with the " + string(run.Lifetime) + "."
	}
	return text
}

// verdictText returns the text of a verdict with its warnings.
func verdictText(v policy.Verdict) string {
	text := v.Text()
	if !v.Allowed {
		return text // the most important first
	}
	for _, check := range v.Warnings() {
		if check.Name != policy.SmallerCheck { // the checks have it
			text += " " + check.Message
		}
	}
	return text
}

// pageURL returns the URL of a cluster's page.
func (s *server) pageURL(row clusters.Row) string {
	return strings.TrimSuffix(s.UI, "/") + "/clusters/" + row.ID
}

// DryRun implements POST /api/v1/dry-run.
func (s *server) DryRun(w http.ResponseWriter, r *http.Request) {
	asked, _, read := s.readCreateRequest(w, r)
	if !read {
		return
	}
	v, err := s.App.DryRun(r.Context(), principal(r), asked)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, toPreview(v))
}

// toPreview is a verdict with what a dry run foresees.
func toPreview(v app.Preview) v1.Verdict {
	out := toVerdict(v.Verdict)
	out.Position, out.StartsAt, out.ReadyP50Seconds, out.ReadyP90Seconds = v.Position, utc(v.StartsAt), toSeconds(v.ReadyP50), toSeconds(v.ReadyP90)
	return out
}

package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// bodies are a real body of every event and action that is listened to, and of some that are not.
func bodies(t testing.TB) map[string][]byte {
	out := map[string][]byte{}
	check := github.Check{ID: 1, Head: pull(0).HeadSHA, ExternalID: "clu_1", Name: "ocpctl", StartedAt: time.Now()}
	events := Events()
	events[onComment] = append(events[onComment], actionEdited, actionDeleted)
	for event, actions := range events {
		for _, action := range actions {
			e := github.Event{
				Name: event, Action: action, Sender: "will", PR: pull(0, label), Label: label, Check: check, Button: "extend", OldName: "shop",
				Comment: github.Comment{ID: 7, Author: "will", Body: "/ocp create"}, ReviewState: "commented", Repos: []github.RepoRef{{ID: 9, Name: "acme/ledger"}},
				Client: json.RawMessage(`{"pr_number":41,"NAME":1,"name":2}`), OnHead: []github.PullRequest{pull(0)},
				Deploy: github.Deployment{ID: 9, Environment: "ocp/aws-minimal-test", Task: "deploy", Ref: "main"},
				Run:    github.Run{ID: 7001, Attempt: 1, Event: "push", Status: action}, Job: github.Job{ID: 9001, Attempt: 1, Key: "e2e", Status: action},
			}
			if action == actionMoved {
				e.OldName = "acme/shop"
			}
			body, err := github.Payload(e)
			require.NoError(t, err)
			out[event+"."+action] = body
		}
	}
	return out
}

func TestARealBodyFitsItsEventAndNoOther(t *testing.T) {
	f := newFront(t)
	all := bodies(t)
	for is, body := range all {
		its, action, _ := strings.Cut(is, ".")
		for event, actions := range Events() {
			status, answer := f.post("/webhooks/github", body, signed(event, is+"-as-"+event, body))
			listened := slices.Contains(actions, action)
			switch {
			case is == "pull_request.edited" && event == its:
				require.Contains(t, answer["detail"], "ocpctl ignores changes to a pull request's text", "only another base does")
			case event == its && aboutRun(event):
				require.Equal(t, "no cluster and no turn belongs to it; nothing was stored.", answer["detail"], is)
			case event == its && listened:
				require.Equal(t, "accepted", answer["state"], "%s: %v", is, answer)
			case listened:
				require.Equal(t, http.StatusUnprocessableEntity, status, "%s as %s: %v", is, event, answer)
				require.Contains(t, answer["detail"], "X-GitHub-Event says "+event+", and the body does not match its event")
				require.Contains(t, answer["detail"], "It is kept with the failed deliveries")
			default:
				require.Equal(t, "ignored", answer["state"], "%s as %s", is, event)
			}
		}
	}
	for _, stored := range f.stored() {
		id, refused := strings.CutPrefix(stored, "refused:")
		is, as, _ := strings.Cut(id, "-as-")
		require.Equal(t, !refused, strings.HasPrefix(is, as+"."), stored)
	}
	require.Empty(t, f.query(`SELECT delivery_id FROM deliveries WHERE starts_with(delivery_id, 'refused:') <> (state = 'failed' AND reason = 'wrong_event')`))
}

func TestACommentSentAsADeletedRepositoryIsRefused(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))))
	body := bodies(t)["issue_comment.deleted"]
	status, answer := i.post("/webhooks/github", body, signed("repository", "d2", body))
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, answer["detail"], "a repository event has no field comment")
	require.Equal(t, []string{"d1", "refused:d2"}, i.stored())
	require.Equal(t, []string{"0"}, i.query(`SELECT count(*)::text FROM clusters WHERE end_pr_closed IS NOT NULL`))
}

// What ends clusters in bulk: no body of any other event that GitHub describes passes for it. Those that have nothing of their own
// are told apart by their actions.
func TestNoOtherEventPassesForOneThatEndsClusters(t *testing.T) {
	all := bodies(t)
	for _, event := range []string{onRepository, onInstallation, onRepositories} {
		var alike []string
		for other, names := range fields() {
			if other == event {
				continue
			}
			var body map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(all[event+"."+Events()[event][0]], &body))
			for name := range body { // as the other event would have it
				if !names[name] {
					delete(body, name)
				}
			}
			for name := range names {
				if _, there := body[name]; !there && name != "enterprise" && name != "organization" && name != "changes" {
					body[name] = json.RawMessage(`{}`)
				}
			}
			if other != onInstallation && other != onRepositories { // elsewhere an installation is an id
				body["installation"] = json.RawMessage(`{"id":5001,"node_id":"x"}`)
			}
			raw, err := json.Marshal(body)
			require.NoError(t, err)
			if _, err := decodeStored(event, raw); err == nil {
				alike = append(alike, other)
			}
		}
		want := map[string][]string{onRepository: {"branch_protection_configuration", "watch"}}[event] // enabled and disabled; started
		slices.Sort(alike)
		require.Equal(t, want, alike, event)
	}
}

func TestAFieldThatStandsTwiceIsRefused(t *testing.T) {
	f := newFront(t)
	body := string(bodies(t)["pull_request.labeled"])
	for name, twice := range map[string][]byte{
		"at the top":             []byte(`{"action":"closed",` + body[1:]),
		"in another case":        []byte(`{"Action":"closed",` + body[1:]),
		"with an escape":         []byte(`{"\u0061ction":"closed",` + body[1:]),
		"with a NUL":             []byte(`{"act\u0000ion":"closed",` + body[1:]),
		"with a letter alike":    []byte(`{"ſender":{"login":"maya"},` + body[1:]),
		"in an object":           []byte(strings.Replace(body, `"pull_request":{`, `"pull_request":{"number":42,`, 1)),
		"in an object of a list": []byte(strings.Replace(body, `"labels":[{`, `"labels":[{"name":"ocp/other",`, 1)),
	} {
		status, answer := f.post("/webhooks/github", twice, signed("pull_request", "d1", twice))
		require.Equal(t, http.StatusUnprocessableEntity, status, name)
		require.Contains(t, answer["detail"], "occurs twice in one object", name)
	}
	require.Equal(t, []string{"refused:d1"}, f.stored())
	require.Equal(t, []string{"failed duplicate_field"}, f.query(`SELECT state || ' ' || reason FROM deliveries`))
	fine := bodies(t)["repository_dispatch.create_ephemeral_cluster"]
	require.Contains(t, string(fine), `"NAME":1`)
	_, answer := f.post("/webhooks/github", fine, signed("repository_dispatch", "d2", fine))
	require.Equal(t, "accepted", answer["state"], "people may name things as they like")
	twice := bytes.Replace(fine, []byte(`"NAME":1`), []byte(`"name":1`), 1)
	status, _ := f.post("/webhooks/github", twice, signed("repository_dispatch", "d3", twice))
	require.Equal(t, http.StatusUnprocessableEntity, status, "but not two things the same")
}

// counted are the odd webhooks that the listener counted.
type counted []string

func (c *counted) CountRefused(reason string)    { *c = append(*c, "refused "+reason) }
func (c *counted) CountUndescribed(event string) { *c = append(*c, "undescribed "+event) }

// GitHub adds fields as it likes, and what is not read changes nothing: whatever it is called, and whatever it is.
func TestAFieldThatGitHubAddsIsTakenAndCounted(t *testing.T) {
	var odd counted
	f := newFront(t, func(c *Config) { c.Counts = &odd })
	for event, action := range map[string]string{
		onPullRequest: "labeled", onComment: "created", onReview: "submitted", onReviewComment: "created", onCheckRun: "requested_action", onCheckSuite: "rerequested",
		onDispatch: "create_ephemeral_cluster", onRule: "requested",
	} {
		for n, more := range []string{
			`"something_new":{"action":"deleted"}`, `"team":{"name":"a"}`, `"team":"a"`, `"release":{}`, `"release":null,"release":1`, `"deployment_status":7`, `"number":"x"`,
			`"enterprise":{"id":1,"id":2}`,
		} {
			body := []byte(`{` + more + `,` + string(bodies(t)[event+"."+action])[1:])
			_, answer := f.post("/webhooks/github", body, signed(event, fmt.Sprintf("%s-%d", event, n), body))
			require.Equal(t, "accepted", answer["state"], "%s with %s: %v", event, more, answer)
		}
	}
	require.NotContains(t, fmt.Sprint(odd), "refused")
	require.Subset(t, odd, []string{"undescribed pull_request", "undescribed issue_comment", "undescribed deployment_protection_rule"})
	require.Len(t, f.query(`SELECT delivery_id FROM deliveries WHERE state = 'received'`), 8*8)
}

// What another event has at the top may be of any type: it is read only where its own event has it.
func TestAFieldOfAnotherEventIsNotRead(t *testing.T) {
	for name, more := range map[string]string{"an object": `"environment":{}`, "a list": `"comment":[]`, "a text": `"workflow_run":"x"`} {
		body := []byte(`{` + more + `,` + string(bodies(t)["pull_request.labeled"])[1:])
		p, err := decodeStored(onPullRequest, body)
		require.NoError(t, err, name)
		require.Zero(t, p.Comment, name)
		require.Equal(t, 41, p.PullRequest.Number, name)
	}
	body := bodies(t)["pull_request.labeled"]
	_, err := decodeStored(onPullRequest, bytes.Replace(body, []byte(`"draft":false`), []byte(`"draft":"no"`), 1))
	require.ErrorIs(t, err, errMismatch)
	require.Equal(t, inbox.ReasonUnreadable, mismatchReason(err))
}

func TestTheRefusedAreKeptAndFillNoDisk(t *testing.T) {
	f := newFront(t)
	large := fmt.Sprintf(`{"action":"labeled","action":"closed","x":%q}`, strings.Repeat("x", 2<<20))
	_, answer := f.post("/webhooks/github", []byte(large), signed("pull_request", "large", []byte(large)))
	require.Contains(t, answer["detail"], "It is kept")
	require.Equal(t, []string{"0"}, f.query(`SELECT octet_length(body)::text FROM deliveries WHERE note LIKE '%only the SHA-256 checksum is kept%'`))
	for n := range 110 {
		body := fmt.Appendf(nil, `{"action":"labeled","action":"closed","x":%d}`, n)
		status, _ := f.post("/webhooks/github", body, signed("pull_request", fmt.Sprint("d", n), body))
		require.Equal(t, http.StatusUnprocessableEntity, status)
	}
	require.Equal(t, []string{"100"}, f.query(`SELECT count(*)::text FROM deliveries`))
	require.Equal(t, []string{"refused:d109"}, f.query(`SELECT delivery_id FROM deliveries ORDER BY id DESC LIMIT 1`))
	require.Empty(t, f.query(`SELECT kind FROM river_job WHERE kind = 'inbox'`), "none is processed by itself")
	body := payload(t, "pull_request", "labeled", pull(0, label))
	_, answer = f.post("/webhooks/github", body, signed("pull_request", "d109", body))
	require.Equal(t, "accepted", answer["state"])
	require.Contains(t, f.stored(), "d109", "sent again, and fitting now")
}

// GitHub's own description says what its bodies always have: nothing else is required of them.
func TestNothingIsRequiredThatGitHubMayLeaveOut(t *testing.T) {
	raw, err := os.ReadFile("../../devstack/github/testdata/github.json")
	require.NoError(t, err)
	var doc struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Schema map[string]any }
				}
			}
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	seen := map[string]bool{}
	for path, item := range doc.Paths {
		name, ok := strings.CutPrefix(path, "/webhooks/")
		if !ok {
			continue
		}
		name = strings.ReplaceAll(name, "-", "_")
		var event string
		for known := range Events() {
			if strings.HasPrefix(name, known+"_") && len(known) > len(event) {
				event = known
			}
		}
		if event == "" {
			continue
		}
		schema := item.Post.RequestBody.Content["application/json"].Schema
		if ref, ok := schema["$ref"].(string); ok {
			schema = doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
		}
		properties, _ := schema["properties"].(map[string]any)
		needed, _ := schema["required"].([]any)
		for want := range namesRequired(event) {
			if event == onRule { // the description requires nothing of it, and without its run, its deployment and its environment there is nothing to answer
				continue
			}
			if want != "installation" && want != "action" { // every App is told of its installation, and every event but ping and push has an action
				require.Contains(t, needed, want, name)
			}
		}
		for property := range properties {
			require.True(t, fields()[event][property] || property == "repository" && strings.HasPrefix(event, "installation"), "%s has %s", name, property)
		}
		seen[event] = true
	}
	require.Len(t, seen, len(Events()))
}

// A second reader, by encoding/json's tokens: what it finds twice, readKnown finds, and nothing else.
func twice(dec *json.Decoder, of *shape) bool {
	token, err := dec.Token()
	if err != nil {
		return false
	}
	found := false
	switch token {
	case json.Delim('{'):
		var names []string
		for dec.More() {
			name, _ := dec.Token()
			key := name.(string)
			_, value, read := of.fieldOf(key)
			alike := func(other string) bool {
				return other == key || (of == nil || !of.byWhole) && strings.EqualFold(other, key)
			}
			found = found || read && slices.ContainsFunc(names, alike)
			names = append(names, key)
			found = twice(dec, value) || found
		}
		_, _ = dec.Token()
	case json.Delim('['):
		for dec.More() {
			found = twice(dec, of) || found
		}
		_, _ = dec.Token()
	}
	return found
}

func TestWhatStandsTwiceIsFound(t *testing.T) {
	name := rapid.SampledFrom([]string{`a`, `b`, `A`, `\u0061`, `k`, `K`, `é`, `É`, `client_payload`, `unread`, `a\"b`, ``, `\\`})
	whole := &shape{fields: map[string]*shape{"client_payload": {byWhole: true}}}
	for _, read := range []string{"a", "b", "k", "é", `a"b`, "", `\`} {
		whole.fields[read] = whole
	}
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		leaf := rapid.SampledFrom([]string{`1`, `-2.5e3`, `null`, `true`, `""`, `"}\"{"`, `"\\"`, `[]`, `{}`, ` [ ] `})
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(v []string) string { return "[" + strings.Join(v, " , ") + "]" }),
			rapid.Custom(func(t *rapid.T) string { return object(t, name, value(depth-1)) }))
	}
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(object(t, name, value(3)))
		require.True(t, json.Valid(body), "%s", body)
		top, _, err := readKnown(body, whole)
		require.Equal(t, twice(json.NewDecoder(bytes.NewReader(body)), whole), err != nil, "%s: %v", body, err)
		if err != nil {
			return
		}
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(body, &all))
		for name, raw := range all {
			if _, _, read := whole.fieldOf(name); read {
				require.Equal(t, string(raw[0]), string(top[foldName(name)]), "%s", body)
			}
		}
	})
}

func object(t *rapid.T, name, value *rapid.Generator[string]) string {
	var parts []string
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		parts = append(parts, fmt.Sprintf("\"%s\" : %s", name.Draw(t, "name"), value.Draw(t, "value")))
	}
	return " { " + strings.Join(parts, "\n,") + "\t}"
}

func TestABodyIsAnObject(t *testing.T) {
	for body, want := range map[string]error{
		`{"action":"x"}`: nil, " \n{}": nil, `[]`: errNotJSON, `null`: errNotJSON, ``: errNotJSON, `{"a":1,}`: errNotJSON, `{"a":1}{`: errNotJSON,
		`{"action":01}`: errNotJSON, `{"action":{}}`: errMismatch, "{\"a\":\"\x01\"}": errNotJSON, `payload=%7B%7D`: errNotJSON,
		strings.Repeat(`{"a":`, 20_000) + `1` + strings.Repeat(`}`, 20_000): errNotJSON,
	} {
		_, err := decodeBody(onPullRequest, []byte(body))
		require.ErrorIs(t, err, want, "%.40s", body)
	}
	deep := []byte(strings.Repeat(`{"a":`, 9_990) + `1` + strings.Repeat(`}`, 9_990))
	_, _, err := readKnown(deep, eventShape(onPullRequest))
	require.NoError(t, err, "as deep as encoding/json reads")
}

// What is kept of a body decodes to the same as the whole body, and what json.Valid refuses is refused.
func FuzzKnown(f *testing.F) {
	for is, body := range bodies(f) {
		event, _, _ := strings.Cut(is, ".")
		f.Add(event, body)
	}
	for _, odd := range []string{
		"{\"a\":\"\xff\"}", `{"a":"\u00zz"}`, `{"a":"\x"}`, `{"a":"\`, `{"a":-}`, `{"a":-0.0E+1}`, `{"a":1.}`, `{"a":.1}`, `{"a":1e}`, `{"a":tru}`, `{"a":nul`, `{"a" 1}`,
		`{"a":1 "b":2}`, `{,}`, `{"a":[1,]}`, `{"a":[ 1 ,{ } ,[ ]]}`, "{}\x00", "{\x00}", `{"pull_request":{"labels":[ {"name":"x"} , null,{"id":7}],"head":null,"merged_at":"no"}}`,
		`{"pull_request":[{"number":1}],"label":{"name":{"a":[1]}}}`, `{"sender":{"LOGIN":"x","ID":1}}`, "{\"a\":\"\x7f\"}",
	} {
		f.Add(onPullRequest, []byte(odd))
	}
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		names, known, err := readKnown(body, eventShape(event))
		valid := json.Valid(body) && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
		require.Equal(t, valid, err != errNotJSON, "%q", body)
		if err != nil || eventShape(event) == nil {
			return
		}
		require.True(t, json.Valid(known), "%q", known)
		for name := range names { // the fields that other events have at the top are not read
			if _, _, read := eventShape(event).fieldOf(name); !read {
				return
			}
		}
		var whole, part webhook
		inWhole, inPart := json.Unmarshal(body, &whole), json.Unmarshal(known, &part)
		require.Equal(t, inWhole == nil, inPart == nil, "%q", body)
		require.Equal(t, whole, part, "%q", body)
	})
}

func BenchmarkDecode(b *testing.B) {
	body := bodies(b)["pull_request.labeled"]
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeStored(onPullRequest, body); err != nil {
			b.Fatal(err)
		}
	}
}

package github

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Event is something that happened on GitHub and is told by webhook.
type Event struct {
	Name     string      // pull_request, issue_comment or ping
	Action   string      // labeled, unlabeled, opened, closed, reopened, synchronize; created, edited, deleted; empty for ping
	Sender   string      // login
	PR       PullRequest // as it is after the event
	Label    string      // labeled and unlabeled
	Comment  Comment     // issue_comment
	OldBody  string      // issue_comment edited
	Before   string      // synchronize: the head before
	Comments int         // how many comments the pull request has
	BaseURL  string      // the stand-in's address; empty: GitHub's own addresses in the payload
}

// Payload builds the webhook's body in GitHub's own shape, from a real sample patched to the demo's names.
func Payload(e Event) ([]byte, error) {
	name := e.Name
	if e.Action != "" {
		name += "." + e.Action
	}
	body, err := sample(name, e.BaseURL, e.PR.Number)
	if err != nil {
		return nil, err
	}
	body["sender"], body["organization"] = userShape(e.Sender, e.BaseURL), orgShape(e.BaseURL)
	if e.Name != "ping" {
		body["installation"] = object{"id": Installation, "node_id": nodeID("I", Installation)}
	}
	if repo, ok := body["repository"].(object); ok {
		patchRepo(repo, Org, e.BaseURL)
	}
	switch e.Name {
	case "pull_request":
		patchPullEvent(body, e)
	case "issue_comment":
		patchIssue(body["issue"].(object), e.PR, e.Comments, e.BaseURL)
		patchComment(body["comment"].(object), e.Comment, e.BaseURL)
		if e.Action == "edited" {
			body["changes"] = object{"body": object{"from": e.OldBody}}
		}
	}
	return json.Marshal(body)
}

func patchPullEvent(body object, e Event) {
	body["number"] = e.PR.Number
	patchPull(body["pull_request"].(object), e.PR, e.Comments, e.BaseURL)
	switch e.Action {
	case "labeled", "unlabeled":
		body["label"] = labelShape(e.Label, e.BaseURL)
	case "synchronize":
		body["before"], body["after"] = e.Before, e.PR.HeadSHA
	}
}

func orgShape(base string) object {
	api := base + "/orgs/" + Org
	if base == "" {
		api = publicAPI + "orgs/" + Org
	}
	return object{
		"login": Org, "id": orgID, "node_id": nodeID("O", orgID), "url": api, "repos_url": api + "/repos",
		"events_url": api + "/events", "hooks_url": api + "/hooks", "issues_url": api + "/issues",
		"members_url": api + "/members{/member}", "public_members_url": api + "/public_members{/member}",
		"avatar_url": "", "description": "",
	}
}

// Sign is the X-Hub-Signature-256 of a body.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// GUID makes a delivery id as GitHub makes them: a random UUID.
func GUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Hook is where webhooks go and what signs them.
type Hook struct{ URL, Secret string }

// NewRequest builds the signed POST of one delivery with GitHub's headers.
func (h Hook) NewRequest(ctx context.Context, event, guid string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("prepare delivery %s: %w", guid, err)
	}
	for k, v := range map[string]string{
		"Accept": "*/*", "Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/0c0ffee",
		"X-GitHub-Delivery": guid, "X-GitHub-Event": event, "X-GitHub-Hook-ID": itoa(hookID),
		"X-GitHub-Hook-Installation-Target-ID": itoa(AppID), "X-GitHub-Hook-Installation-Target-Type": "integration",
		"X-Hub-Signature-256": Sign(h.Secret, body),
	} {
		req.Header.Set(k, v)
	}
	return req, nil
}

const hookID = 109948

// Post sends one signed webhook from outside the stand-in's world and returns the answer's status and body. It waits
// ten seconds, as GitHub does.
func Post(ctx context.Context, h Hook, event, guid string, body []byte) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := h.NewRequest(ctx, event, guid, body)
	if err != nil {
		return 0, "", err
	}
	resp, err := hookClient.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("deliver %s: %w", guid, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return resp.StatusCode, "", fmt.Errorf("read the answer to delivery %s: %w", guid, err)
	}
	return resp.StatusCode, strings.TrimSpace(string(answer)), nil
}

// hookClient follows no redirect: GitHub does not either.
var hookClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

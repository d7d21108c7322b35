package github

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Sign returns X-Hub-Signature-256 for a body.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// GUID returns a delivery id like GitHub's: a random UUID.
func GUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Hook is the target of webhooks and the secret that signs them.
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

// Post sends one signed webhook from outside the stand-in's world and returns the response's status and body. It waits ten seconds,
// as GitHub does.
func Post(ctx context.Context, h Hook, event, guid string, body []byte) (_ int, _ string, err error) {
	defer must.Catch(&err)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req := must.Get(h.NewRequest(ctx, event, guid, body))
	resp, err := hookClient.Do(req)
	must.Wrap(err, "deliver %s", guid)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return resp.StatusCode, "", fmt.Errorf("read the answer to delivery %s: %w", guid, err)
	}
	return resp.StatusCode, strings.TrimSpace(string(answer)), nil
}

// hookClient follows no redirect, as GitHub does not.
var hookClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

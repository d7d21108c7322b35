package story

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// slack asks the door Slack's first question, once signed as Slack signs and once not.
// https://api.slack.com/authentication/verifying-requests-from-slack
func (t *teller) slack(ctx context.Context) error {
	const body = `{"type":"url_verification","challenge":"a-challenge"}`
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(t.at.SlackSecret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	for _, try := range []struct {
		signature string
		status    int
		says      string
	}{
		{"v0=" + hex.EncodeToString(mac.Sum(nil)), http.StatusOK, "a-challenge"},
		{"v0=00", http.StatusUnauthorized, ""},
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.at.Public+"/webhooks/slack", strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Slack-Request-Timestamp", stamp)
		req.Header.Set("X-Slack-Signature", try.signature)
		resp, err := t.web.Do(req)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
		if resp.StatusCode != try.status || !strings.Contains(string(answer), try.says) {
			return fmt.Errorf("answered %d %s instead of %d", resp.StatusCode, answer, try.status)
		}
	}
	return nil
}

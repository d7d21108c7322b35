package slack

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
)

// The results of calls, as they are counted.
const (
	ResultOK      = "ok"
	ResultLimited = "limited" // Slack wants the call later
	ResultRefused = "refused" // Slack answered with an error
	ResultFailed  = "failed"  // there was no answer, or one of a server in trouble
)

// counted reports the result of each call.
type counted struct {
	next   http.RoundTripper
	called func(method, result string)
}

// RoundTrip implements http.RoundTripper. It reads the answer, because Slack's errors stand in there.
func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	method := path.Base(r.URL.Path)
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		c.called(method, ResultFailed)
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it was read
	if err != nil {
		c.called(method, ResultFailed)
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	c.called(method, resultOf(resp.StatusCode, body))
	return resp, nil
}

func resultOf(status int, body []byte) string {
	var answer struct {
		OK    bool
		Error string
	}
	switch {
	case status == http.StatusTooManyRequests:
		return ResultLimited
	case status != http.StatusOK || json.Unmarshal(body, &answer) != nil:
		return ResultFailed
	case answer.OK:
		return ResultOK
	case answer.Error == channelLimited, slices.Contains(limited, answer.Error):
		return ResultLimited
	}
	return ResultRefused
}

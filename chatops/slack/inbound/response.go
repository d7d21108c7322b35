package inbound

import (
	"encoding/json"
	"net/url"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// ResponseURL returns the address at which a press or a message shortcut can be answered for half an hour; empty: Slack sent none. It lets
// whoever has it write in the channel, so it is no part of a Request and never stored.
func ResponseURL(body []byte) secret.Text {
	var sent struct {
		URL string `json:"response_url"`
	}
	if form, err := url.ParseQuery(string(body)); err == nil && form.Has("payload") {
		body = []byte(form.Get("payload"))
	}
	if json.Unmarshal(body, &sent) != nil {
		return secret.Text{}
	}
	return secret.New(sent.URL)
}

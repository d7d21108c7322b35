package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// Keys are AWS access keys that do not renew themselves. The zero value means whatever the SDK's default chain finds.
type Keys struct {
	ID     string
	Secret secret.Text
	Token  secret.Text // only temporary keys have one
}

// ParseKeys parses {"aws_access_key_id": …, "aws_secret_access_key": …, "aws_session_token": …}; the last one is optional. Its errors
// name fields and quote no value.
func ParseKeys(document secret.Text) (Keys, error) {
	var fields struct {
		ID     string `json:"aws_access_key_id"`
		Secret string `json:"aws_secret_access_key"`
		Token  string `json:"aws_session_token"`
	}
	if json.Unmarshal([]byte(document.Reveal()), &fields) != nil {
		return Keys{}, errors.New(`the cloud credentials are not of the form {"aws_access_key_id":"…","aws_secret_access_key":"…"}`)
	}
	for _, each := range []struct {
		name, value string
		optional    bool
	}{
		{"aws_access_key_id", fields.ID, false}, {"aws_secret_access_key", fields.Secret, false}, {"aws_session_token", fields.Token, true},
	} {
		if each.value == "" && !each.optional {
			return Keys{}, fmt.Errorf("the cloud credentials have no string %s", each.name)
		}
		if strings.ContainsAny(each.value, " \t\r\n") { // it would become another line of the file
			return Keys{}, fmt.Errorf("%s of the cloud credentials contains a space or a line break", each.name)
		}
	}
	return Keys{ID: fields.ID, Secret: secret.New(fields.Secret), Token: secret.New(fields.Token)}, nil
}

// Empty reports whether there are no keys.
func (k Keys) Empty() bool { return k.ID == "" }

// Temporary reports whether the keys expire.
func (k Keys) Temporary() bool { return !k.Token.Empty() }

// File returns the keys as a shared-credentials file, which every SDK and tool of AWS reads.
func (k Keys) File() secret.Text {
	lines := []string{"[default]", "aws_access_key_id = " + k.ID, "aws_secret_access_key = " + k.Secret.Reveal()}
	if k.Temporary() {
		lines = append(lines, "aws_session_token = "+k.Token.Reveal())
	}
	return secret.New(strings.Join(lines, "\n") + "\n")
}

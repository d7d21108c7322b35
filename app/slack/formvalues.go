package slack

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

// postField is the form's own field: the channel that shows the cluster.
const postField = "post"

// basisMark separates a field's name from what its choices depend on.
const basisMark = ":"

// filled is what is filled in in the form for a cluster.
type filled struct {
	values createform.Values
	post   string // the channel that shows the cluster; empty: the direct messages
	from   string // the channel in which the form was opened; empty: none
}

// carried is what a form brings back with its submission. Nothing in it is trusted, and it holds no secret.
type carried struct {
	From string `json:"c,omitempty"`
}

func (f filled) formMetadata() string {
	raw, err := json.Marshal(carried{From: f.from})
	if err != nil {
		panic(err) // a string
	}
	return string(raw)
}

// readForm reads a view. What a field's id says it depends on is only used for add-ons, which are meant for one profile.
func readForm(v inbound.View) filled {
	f := filled{values: createform.Values{}}
	var meant carried
	if json.Unmarshal([]byte(v.Metadata), &meant) == nil {
		f.from = meant.From
	}
	for block, actions := range v.Values {
		name, basis, _ := strings.Cut(block, basisMark)
		value := strings.TrimSpace(actions[block])
		switch {
		case name == postField:
			f.post = value
		case name == createform.Addons:
			f.values[name], f.values[createform.AddonsFor] = value, basis
		case slices.Contains(createform.Names, name):
			f.values[name] = value
		}
	}
	return f
}

// mostPrefill is the longest content of a form that a button carries: Slack allows 2,000 characters for its value.
const mostPrefill = 1500

// encodePrefill encodes what a form shows at first as the value of the button that opens it. Long content is left out.
func encodePrefill(v createform.Values) string {
	kept := createform.Values{}
	for name, value := range v {
		if value != "" && name != createform.SSHPublicKey && name != createform.ExtraTags {
			kept[name] = value
		}
	}
	raw, err := json.Marshal(kept)
	if err != nil || len(raw) > mostPrefill || len(kept) == 0 {
		return ""
	}
	return string(raw)
}

// decodePrefill decodes prefill. The form's own name means an empty form; anything else is the name of a profile.
func decodePrefill(value string) createform.Values {
	var v createform.Values
	if value == blocks.FormCreate {
		return v
	}
	if json.Unmarshal([]byte(value), &v) != nil || v == nil {
		return createform.Values{createform.Profile: value}
	}
	return v
}

// isShared reports whether a channel can show a cluster to others: direct messages may be between two people, where the bot is not.
func isShared(channel string) bool {
	return strings.HasPrefix(channel, "C") || strings.HasPrefix(channel, "G")
}

// openAgain is the button for a form that could not be opened in time.
func openAgain(v createform.Values) blocks.Press {
	return blocks.Press{Verb: chatops.VerbOpenForm, Value: encodePrefill(v)}
}

package storetest

import (
	"github.com/ocpctl/ocpctl/store/inbox"
)

func Delivery(id string) inbox.Delivery {
	return inbox.Delivery{Source: "github", ID: id, Event: "pull_request", Body: []byte(`{"action":"labeled"}`)}
}

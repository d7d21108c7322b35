// Package guests reaches the stand-in hub's hosted clusters for the stand-in oc. Their state is notes that the hub keeps; they have no machines in a cloud.
package guests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/ocpctl/ocpctl/devstack/hub"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// host is a hosted cluster, by the host of its API, at a hub's address for these.
type host struct{ at, name string }

// Locate finds the hosted cluster of a host. resources.ErrNoCluster: there is none.
func Locate(ctx context.Context, at, name string) (_ *resources.Living, err error) {
	defer must.Catch(&err)
	h := host{at, name}
	var found hub.Guest
	must.Do(h.callHub(ctx, http.MethodGet, nil, &found))
	l := &resources.Living{InfraID: found.InfraID, Network: name, Notes: map[string]map[string]string{name: found.Notes}, On: h}
	for _, node := range found.Nodes {
		l.Machines = append(l.Machines, resources.Machine{ID: node, Name: node, Running: true})
	}
	return l, nil
}

func (h host) callHub(ctx context.Context, method string, body []byte, into any) (err error) {
	defer must.Catch(&err)
	request := must.Get(http.NewRequestWithContext(ctx, method, h.at+"/?host="+url.QueryEscape(h.name), bytes.NewReader(body)))
	answer := must.Get(http.DefaultClient.Do(request))
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("lookup %s: %w", h.name, resources.ErrNoCluster)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("the stand-in hub answers %s", answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// Note implements resources.Platform.
func (h host) Note(ctx context.Context, _, key, value string) error {
	raw, err := json.Marshal(map[string]string{"host": h.name, "key": key, "value": value})
	if err != nil {
		return err
	}
	return h.callHub(ctx, http.MethodPost, raw, new(hub.Guest))
}

// Again implements resources.Platform.
func (h host) Again(ctx context.Context) (*resources.Living, error) { return Locate(ctx, h.at, h.name) }

// ProviderID implements resources.Platform.
func (h host) ProviderID(_ *resources.Living, m resources.Machine) string {
	return "kubevirt://" + m.ID
}

// errNoMachines is why a hosted cluster starts and ends no machine: its hub does.
var errNoMachines = errors.New("a hosted cluster has no machine sets")

// SetName implements resources.Platform.
func (h host) SetName(l *resources.Living, _ string) string { return l.InfraID }

// Launch implements resources.Platform.
func (h host) Launch(context.Context, *resources.Living, string, string) (string, error) {
	return "", errNoMachines
}

// Terminate implements resources.Platform.
func (h host) Terminate(context.Context, []string) error { return errNoMachines }

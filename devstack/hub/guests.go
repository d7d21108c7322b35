package hub

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Guest is a hosted cluster as the stand-in oc sees it, which reaches it under the address in its kubeconfig. There are no machines in it: what is
// applied to it is kept as notes.
type Guest struct {
	InfraID string            `json:"infraID"`
	Nodes   []string          `json:"nodes"`
	Notes   map[string]string `json:"notes"`
}

// guest is what is kept of a hosted cluster.
type guest struct {
	Path  string // of its object
	Notes map[string]string
}

// GuestsURL is where the stand-in oc asks for hosted clusters: GET ?host=, and POST {host, key, value} of a note. It has no authentication.
func (h *Hub) GuestsURL() string { return h.guests }

// serveGuests answers the stand-in oc.
func (h *Hub) serveGuests(w http.ResponseWriter, r *http.Request) {
	var note struct{ Host, Key, Value string }
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&note); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	} else {
		note.Host = r.URL.Query().Get("host")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	one := h.world.Guests[note.Host]
	if one == nil {
		http.Error(w, "there is no hosted cluster at "+note.Host, http.StatusNotFound)
		return
	}
	switch {
	case r.Method == http.MethodPost && note.Value == "":
		delete(one.Notes, note.Key)
	case r.Method == http.MethodPost:
		one.Notes[note.Key] = note.Value
	}
	if err := h.save(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	where := parse(one.Path)
	out := Guest{InfraID: where.namespace, Notes: one.Notes}
	inside := "/namespaces/" + controlPlane(where) + "/virtualmachines/"
	for _, path := range slices.Sorted(maps.Keys(h.world.Objects)) {
		if _, name, found := strings.Cut(path, inside); found {
			out.Nodes = append(out.Nodes, name)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the client may be gone
}

// addGuest makes the hosted cluster that its kubeconfig leads to, and returns the kubeconfig.
func (h *Hub) addGuest(path, host string) []byte {
	if h.world.Guests == nil {
		h.world.Guests = map[string]*guest{}
	}
	h.world.Guests[host] = &guest{Path: path, Notes: map[string]string{}}
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	raw, _ := yaml.Marshal(object{ // strings always encode
		"apiVersion": "v1", "kind": "Config", "preferences": object{}, "current-context": "admin",
		"clusters": []object{{"name": "cluster", "cluster": object{"server": fmt.Sprintf("https://%s:6443", host), "certificate-authority-data": encode(string(h.ca))}}},
		"contexts": []object{{"name": "admin", "context": object{"cluster": "cluster", "user": "admin", "namespace": "default"}}},
		"users":    []object{{"name": "admin", "user": object{"client-certificate-data": encode(rand.Text()), "client-key-data": encode(rand.Text())}}},
	})
	return raw
}

// dropGuest ends a hosted cluster.
func (h *Hub) dropGuest(path string) {
	maps.DeleteFunc(h.world.Guests, func(_ string, one *guest) bool { return one.Path == path })
}

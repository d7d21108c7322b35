package hub

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/names"
)

// object is one object as JSON.
type object = map[string]any

const (
	namespaces   = "/api/v1/namespaces"
	clusterLabel = "ocpctl.io/cluster"
)

// stored is an object and what its field manager applied last.
type stored struct {
	Object  object
	Applied object    `json:",omitempty"`
	GoneAt  time.Time `json:",omitzero"` // of a volume whose claim is gone
}

// problem is a refusal (metav1.Status).
type problem struct {
	code            int
	reason, message string
	kind, name      string // of the object that it is about; empty: it does not tell
}

func (p *problem) Error() string { return p.message }

func refuse(code int, reason, format string, args ...any) *problem {
	return &problem{code: code, reason: reason, message: fmt.Sprintf(format, args...)}
}

func absent(resource, name string) *problem {
	return &problem{http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", resource, name), resource, name}
}

func at(o object, path ...string) any {
	var value any = o
	for _, name := range path {
		inner, ok := value.(object)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

func text(o object, path ...string) string { s, _ := at(o, path...).(string); return s }

func texts(o object, path ...string) (list []string) {
	switch all := at(o, path...).(type) {
	case []string:
		return slices.Clone(all)
	case []any:
		for _, one := range all {
			list = append(list, fmt.Sprint(one))
		}
	}
	return list
}

func set(o object, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := o[name].(object)
		if !ok {
			inner = object{}
			o[name] = inner
		}
		o = inner
	}
	last := path[len(path)-1]
	if value == nil {
		delete(o, last)
		return
	}
	o[last] = value
}

// create adds an object with what the server sets, and what controllers do at once.
func (h *Hub) create(path string, o object) (object, error) {
	where := parse(path)
	if h.world.Objects[path] != nil {
		return nil, refuse(http.StatusConflict, "AlreadyExists", "%s %q already exists", where.resource, where.name)
	}
	if ns := h.world.Objects[namespaces+"/"+where.namespace]; where.namespace != "" {
		if ns == nil {
			return nil, absent("namespaces", where.namespace)
		}
		if text(ns.Object, "metadata", "deletionTimestamp") != "" {
			return nil, refuse(http.StatusForbidden, "Forbidden", "unable to create new content in namespace %s because it is being terminated", where.namespace)
		}
	}
	h.world.Last++
	set(o, names.NewUUID(), "metadata", "uid")
	set(o, stamp(time.Now()), "metadata", "creationTimestamp")
	set(o, fmt.Sprint(h.world.Last), "metadata", "resourceVersion")
	h.world.Objects[path] = &stored{Object: o}
	switch where.resource {
	case "namespaces":
		set(o, []any{"kubernetes"}, "spec", "finalizers")
		set(o, "Active", "status", "phase")
		_, _ = h.create(path+"/serviceaccounts/default", object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": "default", "namespace": where.name}})
	case "persistentvolumeclaims":
		h.bindVolume(where, o)
	}
	return o, nil
}

// bindVolume makes the volume of a claim.
func (h *Hub) bindVolume(claim place, o object) {
	name := "pvc-" + text(o, "metadata", "uid")
	reclaim := "Delete"
	if text(o, "spec", "storageClassName") == "retain" {
		reclaim = "Retain"
	}
	_, _ = h.create("/api/v1/persistentvolumes/"+name, object{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": object{"name": name}, "status": object{"phase": "Bound"}, "spec": object{
		"persistentVolumeReclaimPolicy": reclaim, "claimRef": object{"namespace": claim.namespace, "name": claim.name},
	}})
}

// apply is server-side apply of one manager: what it applied before and does not any more goes.
func (h *Hub) apply(path string, o object) (object, error) {
	one := h.world.Objects[path]
	if one == nil {
		made, err := h.create(path, clone(o))
		if err != nil {
			return nil, err
		}
		h.world.Objects[path].Applied = o
		return made, nil
	}
	if text(one.Object, "roleRef", "name") != text(o, "roleRef", "name") {
		return nil, refuse(http.StatusUnprocessableEntity, "Invalid", "roleRef: Invalid value: cannot change roleRef")
	}
	prune(one.Object, one.Applied, o)
	merge(one.Object, clone(o))
	h.world.Last++
	set(one.Object, fmt.Sprint(h.world.Last), "metadata", "resourceVersion")
	one.Applied = o
	return one.Object, nil
}

func clone(o object) (out object) {
	raw, _ := json.Marshal(o) // it came as JSON
	_ = json.Unmarshal(raw, &out)
	return out
}

func merge(into, from object) {
	for key, value := range from {
		inner, isObject := value.(object)
		old, wasObject := into[key].(object)
		if isObject && wasObject {
			merge(old, inner)
			continue
		}
		into[key] = value
	}
}

func prune(from, before, now object) {
	for key, value := range before {
		inner, isObject := value.(object)
		next, stays := now[key]
		switch {
		case !stays:
			delete(from, key)
		case isObject:
			old, _ := from[key].(object)
			next, _ := next.(object)
			prune(old, inner, next)
		}
	}
}

// remove deletes an object, or marks it if something holds it.
func (h *Hub) remove(path, uid string) error {
	where, one := parse(path), h.world.Objects[path]
	switch {
	case one == nil:
		return absent(where.resource, where.name)
	case uid != "" && uid != text(one.Object, "metadata", "uid"):
		return refuse(http.StatusConflict, "Conflict", "the UID in the precondition (%s) does not match the UID in record", uid)
	case where.resource == "namespaces" && slices.Contains([]string{"kube-system", "default"}, where.name):
		return refuse(http.StatusForbidden, "Forbidden", "namespaces %q is forbidden: this namespace may not be deleted", where.name)
	}
	if text(one.Object, "metadata", "deletionTimestamp") == "" {
		set(one.Object, stamp(time.Now()), "metadata", "deletionTimestamp")
	}
	if where.resource == "namespaces" {
		set(one.Object, "Terminating", "status", "phase")
		return nil
	}
	h.dropFreed(path)
	return nil
}

// dropFreed drops an object that is being deleted once nothing holds it.
func (h *Hub) dropFreed(path string) {
	if one := h.world.Objects[path]; text(one.Object, "metadata", "deletionTimestamp") == "" || len(texts(one.Object, "metadata", "finalizers")) > 0 {
		return
	}
	delete(h.world.Objects, path)
}

// settle does what controllers would have done by now.
func (h *Hub) settle() {
	now := time.Now()
	for _, path := range slices.Sorted(maps.Keys(h.world.Objects)) {
		one := h.world.Objects[path]
		if one == nil {
			continue
		}
		switch where := parse(path); where.resource {
		case "namespaces":
			h.settleNamespace(path, one, now)
		case "persistentvolumes":
			h.settleVolume(path, one, now)
		case "hostedclusters":
			h.operateCluster(path, one, now)
		case "virtualmachines":
			h.settleMachine(path, one, now)
		default:
			h.dropFreed(path)
		}
	}
}

func (h *Hub) settleNamespace(path string, one *stored, now time.Time) {
	since, err := time.Parse(time.RFC3339Nano, text(one.Object, "metadata", "deletionTimestamp"))
	if err != nil || now.Sub(since) < h.cfg.Delay {
		return
	}
	held := map[string]int{}
	left := 0
	for _, inside := range slices.Sorted(maps.Keys(h.world.Objects)) {
		if !strings.Contains(inside, "/namespaces/"+text(one.Object, "metadata", "name")+"/") {
			continue
		}
		_ = h.remove(inside, "")
		if rest := h.world.Objects[inside]; rest != nil {
			left++
			for _, finalizer := range texts(rest.Object, "metadata", "finalizers") {
				held[finalizer]++
			}
		}
	}
	if left == 0 && len(texts(one.Object, "metadata", "finalizers")) == 0 {
		delete(h.world.Objects, path)
		return
	}
	var said []string
	for _, finalizer := range slices.Sorted(maps.Keys(held)) {
		said = append(said, fmt.Sprintf("%s in %d resource instances", finalizer, held[finalizer]))
	}
	if left > 0 {
		set(one.Object, []any{object{"type": "NamespaceFinalizersRemaining", "status": "True", "message": "Some content in the namespace has finalizers remaining: " + strings.Join(said, ", ")}}, "status", "conditions")
	}
}

// settleVolume removes a volume a while after its claim, if its class says so.
func (h *Hub) settleVolume(path string, one *stored, now time.Time) {
	claim := fmt.Sprintf("%s/%s/persistentvolumeclaims/%s", namespaces, text(one.Object, "spec", "claimRef", "namespace"), text(one.Object, "spec", "claimRef", "name"))
	if h.world.Objects[claim] != nil {
		return
	}
	if one.GoneAt.IsZero() {
		one.GoneAt = now
		set(one.Object, "Released", "status", "phase")
	}
	if text(one.Object, "spec", "persistentVolumeReclaimPolicy") == "Delete" && now.Sub(one.GoneAt) >= h.cfg.Delay && len(texts(one.Object, "metadata", "finalizers")) == 0 {
		delete(h.world.Objects, path)
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

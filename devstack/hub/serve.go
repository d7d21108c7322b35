package hub

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// mostLasts is the longest life of a token.
const mostLasts = 365 * 24 * time.Hour

// ServeHTTP serves the API.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	answer, code, strike := h.serve(r, raw)
	if strike != nil {
		path := r.URL.Path
		if made, is := answer.(object); is && r.Method == http.MethodPost && text(made, "metadata", "name") != "" {
			path += "/" + text(made, "metadata", "name")
		}
		strike(r.Method, path)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

// serve does a request under the lock. strike is to be called for a change that was made.
func (h *Hub) serve(r *http.Request, raw []byte) (answer any, code int, strike func(method, path string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	code = http.StatusOK
	if r.Method == http.MethodPost {
		code = http.StatusCreated
	}
	h.settle()
	answer, err := h.answer(r, raw)
	var refused *problem
	switch {
	case errors.As(err, &refused):
		return object{
			"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": refused.message, "reason": refused.reason, "code": refused.code,
			"details": object{"kind": refused.kind, "name": refused.name},
		}, refused.code, nil
	case err != nil:
		return object{"kind": "Status", "message": err.Error(), "reason": "InternalError"}, http.StatusInternalServerError, nil
	}
	if r.Method != http.MethodGet {
		if err := h.save(); err != nil {
			return object{"kind": "Status", "message": err.Error()}, http.StatusInternalServerError, nil
		}
		strike = h.strike
	}
	return answer, code, strike
}

func (h *Hub) answer(r *http.Request, raw []byte) (any, error) {
	if time.Now().Before(h.away) || h.calls >= h.skips[0] && h.calls < h.skips[1] {
		return nil, refuse(http.StatusServiceUnavailable, "ServiceUnavailable", "the hub is away")
	}
	who, err := h.authenticate(r)
	if err != nil {
		return nil, err
	}
	var body object
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			return nil, refuse(http.StatusBadRequest, "BadRequest", "the body is no JSON object")
		}
	}
	where := parse(r.URL.Path)
	verb := map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPatch: "patch", http.MethodDelete: "delete"}[r.Method]
	if verb == "get" && where.name == "" {
		verb = "list"
	}
	if err := h.authorize(who, verb, where, body); err != nil {
		return nil, err
	}
	if where.group == "config.openshift.io" && where.resource == "ingresses" && verb == "get" && !h.cfg.Plain {
		return object{"apiVersion": "config.openshift.io/v1", "kind": "Ingress", "metadata": object{"name": where.name}, "spec": object{"domain": AppsDomain}}, nil
	}
	if k, has := resources[where.resource]; !where.review() && (!has || k.group != where.group) {
		return nil, refuse(http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	}
	switch {
	case where.review():
		return h.review(who, where, body), nil
	case where.sub == "token" && verb == "create":
		return h.giveToken(where, body)
	case where.sub != "" || verb == "":
		return nil, refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "the stand-in does not know %s of %s", r.Method, where.full())
	case verb == "list":
		return h.list(where, r.URL.Query().Get("labelSelector"))
	case verb == "get":
		if one := h.world.Objects[r.URL.Path]; one != nil {
			return one.Object, nil
		}
		return nil, absent(where.resource, where.name)
	case verb == "delete":
		return object{"kind": "Status", "status": "Success"}, h.remove(r.URL.Path, text(body, "preconditions", "uid"))
	}
	return h.write(r, verb, where, body)
}

// write makes or applies an object.
func (h *Hub) write(r *http.Request, verb string, where place, body object) (any, error) {
	path := r.URL.Path
	if verb == "create" {
		where.name = text(body, "metadata", "name")
		path += "/" + where.name
		if where.namespace != "" && text(body, "metadata", "namespace") == "" {
			set(body, where.namespace, "metadata", "namespace")
		}
	} else if r.Header.Get("Content-Type") == "application/merge-patch+json" {
		return h.mergeInto(path, where, body)
	} else if r.Header.Get("Content-Type") != "application/apply-patch+yaml" || r.URL.Query().Get("fieldManager") == "" {
		return nil, refuse(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "the stand-in knows merge patches, and server-side apply with a field manager")
	}
	if err := checkFields(where, body); err != nil {
		return nil, err
	}
	if verb == "create" {
		return h.create(path, body)
	}
	return h.apply(path, body)
}

// mergeInto changes an object by a JSON merge patch without null.
func (h *Hub) mergeInto(path string, where place, change object) (any, error) {
	one := h.world.Objects[path]
	if one == nil {
		return nil, absent(where.resource, where.name)
	}
	changed := clone(one.Object)
	merge(changed, change)
	delete(changed, "status")
	if err := checkFields(where, changed); err != nil {
		return nil, err
	}
	merge(one.Object, clone(change))
	return one.Object, nil
}

// list lists a kind in a namespace, or in all.
func (h *Hub) list(where place, labels string) (any, error) {
	key, value, equals := strings.Cut(labels, "=")
	items := []object{}
	for path, one := range h.world.Objects {
		is := parse(path)
		if is.resource != where.resource || is.group != where.group || where.namespace != "" && is.namespace != where.namespace {
			continue
		}
		all, _ := at(one.Object, "metadata", "labels").(object)
		if got, has := all[key]; labels != "" && (!has || equals && got != value) {
			continue
		}
		items = append(items, one.Object)
	}
	return object{"apiVersion": "v1", "kind": resources[where.resource].kind + "List", "metadata": object{}, "items": items}, nil
}

// review says who asks, or whether they may do something.
func (h *Hub) review(who token, where place, body object) object {
	if where.resource == "selfsubjectreviews" {
		return object{"status": object{"userInfo": object{"username": who.user()}}}
	}
	ask := func(name string) string { return text(body, "spec", "resourceAttributes", name) }
	return object{"status": object{"allowed": h.may(who.user(), ask("verb"), ask("group"), ask("resource"), ask("namespace"), ask("name"))}}
}

// giveToken makes a token of an account (TokenRequest).
func (h *Hub) giveToken(where place, body object) (any, error) {
	account := h.world.Objects[namespaces+"/"+where.namespace+"/serviceaccounts/"+where.name]
	if account == nil {
		return nil, absent(where.resource, where.name)
	}
	seconds, _ := at(body, "spec", "expirationSeconds").(float64)
	if seconds < 600 {
		return nil, refuse(http.StatusUnprocessableEntity, "Invalid", "spec.expirationSeconds: Invalid value: may not specify a duration less than 10 minutes")
	}
	t := token{Namespace: where.namespace, Account: where.name, UID: text(account.Object, "metadata", "uid"), Expires: time.Now().Add(min(time.Duration(seconds)*time.Second, mostLasts)).Truncate(time.Second)}
	made := newToken(t.user(), t.Expires)
	h.world.Tokens[made] = t
	return object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "status": object{"token": made, "expirationTimestamp": t.Expires.UTC().Format(time.RFC3339)}}, nil
}

package github

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// appRoutes are the calls an App makes as itself, by its JWT.
func (s *Server) appRoutes(mux *http.ServeMux) {
	asApp := func(pattern string, fn http.HandlerFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if why := s.checkJWT(r); why != "" {
				complain(w, http.StatusUnauthorized, string(why))
				return
			}
			fn(w, r)
		})
	}
	asApp("GET /app", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, appShape(s.base)) })
	asApp("GET /app/installations", func(w http.ResponseWriter, r *http.Request) {
		page(w, r, s.base, []object{installationShape(s.base)}, nil)
	})
	asApp("GET /app/installations/{id}", ofInstallation(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, installationShape(s.base))
	}))
	asApp("POST /app/installations/{id}/access_tokens", ofInstallation(s.postToken))
	asApp("GET /repos/{owner}/{repo}/installation", ofRepo(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, installationShape(s.base))
	}))
	asApp("GET /app/hook/deliveries", s.listDeliveries)
	asApp("GET /app/hook/deliveries/{id}", s.getDelivery)
	asApp("POST /app/hook/deliveries/{id}/attempts", s.postAttempt)
}

func ofInstallation(fn http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != itoa(Installation) {
			notFound(w)
			return
		}
		fn(w, r)
	}
}

func (s *Server) postToken(w http.ResponseWriter, _ *http.Request) {
	token, end, err := s.issueToken()
	show(w, http.StatusCreated, object{
		"token": token, "expires_at": stamp(end), "permissions": appPermissions, "repository_selection": "all",
	}, err)
}

func deliveryShape(d Delivery) object {
	var action any
	if d.Action != "" {
		action = d.Action
	}
	return object{
		"id": d.ID, "guid": d.GUID, "delivered_at": d.At.UTC().Format("2006-01-02T15:04:05.000Z"), "redelivery": d.Redelivery,
		"duration": d.Seconds, "status": d.Status, "status_code": d.StatusCode, "event": d.Event, "action": action,
		"installation_id": Installation, "repository_id": RepoID, "throttled_at": nil,
	}
}

// listDeliveries answers the newest first; the cursor is the id of the last one seen.
func (s *Server) listDeliveries(w http.ResponseWriter, r *http.Request) {
	per := clamp(r.URL.Query().Get("per_page"), 30, 100)
	before, _ := strconv.ParseInt(r.URL.Query().Get("cursor"), 10, 64)
	out := []object{}
	var last int64
	for _, d := range slices.Backward(s.Deliveries()) {
		if d.State == Waiting || d.State == Held || before != 0 && d.ID >= before {
			continue
		}
		if len(out) == per {
			w.Header().Set("Link", "<"+s.base+"/app/hook/deliveries?per_page="+strconv.Itoa(per)+"&cursor="+itoa(last)+`>; rel="next"`)
			break
		}
		out, last = append(out, deliveryShape(d)), d.ID
	}
	answer(w, http.StatusOK, out)
}

func (s *Server) getDelivery(w http.ResponseWriter, r *http.Request) {
	all := s.Deliveries()
	i := slices.IndexFunc(all, func(d Delivery) bool { return itoa(d.ID) == r.PathValue("id") })
	if i < 0 {
		notFound(w)
		return
	}
	out := deliveryShape(all[i])
	var hook Hook
	s.look(func(*world) { hook = s.hook })
	out["url"] = hook.URL
	out["request"] = object{
		"headers": object{"X-GitHub-Event": all[i].Event, "X-GitHub-Delivery": all[i].GUID},
		"payload": json.RawMessage(all[i].Payload),
	}
	out["response"] = object{"headers": object{}, "payload": all[i].Answer}
	answer(w, http.StatusOK, out)
}

func (s *Server) postAttempt(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err := s.Redeliver(id); err != nil {
		fail(w, err, "HookDelivery", "id")
		return
	}
	answer(w, http.StatusAccepted, object{})
}

package github

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// appRoutes are the calls that an App makes as itself, with its JWT.
func (s *Server) appRoutes(mux *http.ServeMux) {
	asApp := func(pattern string, fn func(w http.ResponseWriter, r *http.Request, sc scene)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			defer catch(w)
			why := s.checkJWT(r)
			endIf(why != "", http.StatusUnauthorized, string(why))
			fn(w, r, s.sceneOf(""))
		})
	}
	asApp("GET /app", func(w http.ResponseWriter, r *http.Request, sc scene) {
		remembered(w, r, func(w http.ResponseWriter) { answer(w, http.StatusOK, sc.appShape()) })
	})
	asApp("GET /app/installations", func(w http.ResponseWriter, r *http.Request, sc scene) {
		all := []object{}
		if in := s.installed(); in != nil {
			all = append(all, sc.installShape(*in))
		}
		page(w, r, s.base, all, nil)
	})
	asApp("GET /app/installations/{id}", func(w http.ResponseWriter, r *http.Request, sc scene) {
		answer(w, http.StatusOK, sc.installShape(*s.installedAs(r)))
	})
	asApp("POST /app/installations/{id}/access_tokens", s.postToken)
	asApp("GET /repos/{owner}/{repo}/installation", s.getInstallation)
	asApp("GET /orgs/{org}/installation", func(w http.ResponseWriter, r *http.Request, sc scene) {
		in := s.installed()
		endMissing(in == nil || !strings.EqualFold(r.PathValue("org"), Org))
		answer(w, http.StatusOK, sc.installShape(*in))
	})
	asApp("GET /app/hook/config", s.getHookConfig)
	asApp("GET /app/hook/deliveries", s.listDeliveries)
	asApp("POST /app/hook/deliveries/{id}/attempts", s.postAttempt)
}

// getHookConfig returns where webhooks go. The secret itself is never shown.
func (s *Server) getHookConfig(w http.ResponseWriter, _ *http.Request, _ scene) {
	var hook Hook
	s.look(func(*world) { hook = s.hook })
	out := object{"content_type": "json", "insecure_ssl": "0", "url": hook.URL}
	if hook.Secret != "" {
		out["secret"] = "********"
	}
	answer(w, http.StatusOK, out)
}

// sceneOf returns the scene of a repository, or an empty one.
func (s *Server) sceneOf(repo string) (sc scene) {
	s.look(func(w *world) {
		r, _ := w.repo(repo)
		sc = w.scene(s, r)
	})
	return sc
}

// installed returns the App's installation; nil: there is none.
func (s *Server) installed() (in *installation) {
	s.look(func(w *world) {
		if w.Install != nil {
			one := *w.Install
			in = &one
		}
	})
	return in
}

// installedAs returns the installation in a path. Without one it ends the call.
func (s *Server) installedAs(r *http.Request) *installation {
	in := s.installed()
	endMissing(in == nil || r.PathValue("id") != itoa(in.ID))
	return in
}

// getInstallation returns the App's installation for a repository; 404 if there is none, as for a missing repository.
func (s *Server) getInstallation(w http.ResponseWriter, r *http.Request, sc scene) {
	var moved, covered bool
	var number int64
	s.look(func(world *world) {
		var repo *repository
		if repo, moved = world.repo(r.PathValue("owner") + "/" + r.PathValue("repo")); repo != nil {
			covered, number = repo.Access && world.Install != nil, repo.ID
		}
	})
	endMissing(!covered)
	if moved {
		s.sendOn(w, r, number)
		return
	}
	answer(w, http.StatusOK, sc.installShape(*s.installed()))
}

// postToken creates a token, for fewer repositories or permissions if requested.
func (s *Server) postToken(w http.ResponseWriter, r *http.Request, sc scene) {
	var body struct {
		Permissions  map[string]string `json:"permissions"`
		Repositories []string          `json:"repositories"`
		IDs          []int64           `json:"repository_ids"`
	}
	if r.ContentLength != 0 {
		decodeBody(r, &body)
	}
	in := s.installedAs(r)
	endIf(in.SuspendedAt != nil, http.StatusForbidden, "This installation has been suspended")
	of := grant{Installation: in.ID, Permissions: body.Permissions, Repos: body.IDs}
	good := (caller{}).grantable(sc.app, body.Permissions)
	s.look(func(world *world) {
		for _, name := range body.Repositories {
			if repo, _ := world.repo(Org + "/" + name); repo != nil {
				of.Repos = append(of.Repos, repo.ID)
			} else {
				good = false
			}
		}
		for _, id := range of.Repos {
			repo := world.repoByID(id)
			good = good && repo != nil && repo.Access
		}
	})
	endIf(!good, http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
	token, end, err := s.issueToken(of)
	permissions := body.Permissions
	if permissions == nil {
		permissions = sc.app.Permissions
	}
	endOnError(err, "", "")
	answer(w, http.StatusCreated, object{
		"token": token, "expires_at": stamp(end), "permissions": permissions, "repository_selection": "selected",
	})
}

func (c caller) grantable(app Manifest, asked map[string]string) bool {
	for name, level := range asked {
		if !c.granted(app, name+":"+level) {
			return false
		}
	}
	return true
}

func deliveryShape(d Delivery) object {
	var repo any
	if d.Repo != 0 {
		repo = d.Repo
	}
	return object{
		"id": d.ID, "guid": d.GUID, "delivered_at": d.At.UTC().Format("2006-01-02T15:04:05.000Z"), "redelivery": d.Redelivery,
		"duration": d.Seconds, "status": d.Status, "status_code": d.StatusCode, "event": d.Event, "action": orNil(d.Action),
		"installation_id": d.Installation, "repository_id": repo, "throttled_at": nil,
	}
}

// listDeliveries returns the newest first, as far back as GitHub stores them. The cursor marks where the next page begins.
func (s *Server) listDeliveries(w http.ResponseWriter, r *http.Request, _ scene) {
	q := r.URL.Query()
	per := clamp(q.Get("per_page"), 30, 100)
	before, err := strconv.ParseInt(strings.TrimPrefix(q.Get("cursor"), "v1_"), 10, 64)
	endIf(q.Get("cursor") != "" && err != nil, http.StatusBadRequest, "Invalid cursor")
	out := []object{}
	var last int64
	for _, d := range slices.Backward(s.remembered()) {
		failed := d.State == Failed
		if before != 0 && d.ID >= before || q.Get("status") == "failure" && !failed || q.Get("status") == "success" && failed {
			continue
		}
		if len(out) == per {
			w.Header().Set("Link", "<"+s.base+"/app/hook/deliveries?per_page="+strconv.Itoa(per)+"&cursor=v1_"+itoa(last)+`>; rel="next"`)
			break
		}
		out, last = append(out, deliveryShape(d)), d.ID
	}
	answer(w, http.StatusOK, out)
}

// remembered returns the deliveries that were tried within GitHub's retention time.
func (s *Server) remembered() []Delivery {
	now := s.now()
	return slices.DeleteFunc(s.Deliveries(), func(d Delivery) bool {
		return d.State == Waiting || d.State == Held || now.Sub(d.At) > deliveryLife
	})
}

func (s *Server) postAttempt(w http.ResponseWriter, r *http.Request, _ scene) {
	endOnError(s.Redeliver(id(r, "id")), "HookDelivery", "id")
	answer(w, http.StatusAccepted, object{})
}

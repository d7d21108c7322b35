package github

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func (s *Server) deploymentCalls() []endpoint {
	return []endpoint{
		{"GET", "/deployments", "deployments:read", true, s.listDeployments},
		{"POST", "/deployments", "deployments:write", false, s.postDeployment},
		{"DELETE", "/deployments/{id}", "deployments:write", false, s.deleteDeployment},
		{"GET", "/deployments/{id}/statuses", "deployments:read", true, s.listStatuses},
		{"POST", "/deployments/{id}/statuses", "deployments:write", false, s.postStatus},
	}
}

// listDeployments returns the newest first.
func (s *Server) listDeployments(w http.ResponseWriter, r *http.Request, c caller) {
	q := r.URL.Query()
	sc, all := s.sceneOf(c.at.repo), []object{}
	is := func(name, value string) bool {
		return q.Get(name) == "" || q.Get(name) == "none" || q.Get(name) == value
	}
	for _, d := range slices.Backward(c.at.Deployments()) {
		if is("sha", d.SHA) && is("ref", d.Ref) && is("task", d.Task) && is("environment", d.Environment) {
			all = append(all, sc.deployment(d))
		}
	}
	page(w, r, s.base, all, nil)
}

// deploymentBody is the body of POST. https://docs.github.com/rest/deployments/deployments#create-a-deployment
type deploymentBody struct {
	Ref         string          `json:"ref"`
	Task        *string         `json:"task"`
	AutoMerge   *bool           `json:"auto_merge"`
	Contexts    *[]string       `json:"required_contexts"`
	Payload     json.RawMessage `json:"payload"`
	Environment *string         `json:"environment"`
	Description *string         `json:"description"`
	Transient   bool            `json:"transient_environment"`
	Production  *bool           `json:"production_environment"`
}

func (b deploymentBody) deployment(now time.Time, by string) *Deployment {
	d := &Deployment{
		Ref: b.Ref, Task: or(b.Task, "deploy"), Environment: or(b.Environment, "production"), Description: or(b.Description, ""),
		Payload: "", Transient: b.Transient, Creator: by, CreatedAt: now, UpdatedAt: now,
	}
	d.Production = d.Environment == "production"
	set(&d.Production, b.Production)
	if len(b.Payload) > 0 {
		d.Payload = b.Payload
	}
	return d
}

func or[T any](value *T, otherwise T) T {
	if value != nil {
		return *value
	}
	return otherwise
}

// conflict says why GitHub would not deploy a commit; empty: it would. Without required_contexts every check of the commit must have
// succeeded, and with auto_merge the default branch must be merged first.
func (b deploymentBody) conflict(r *repository, sha string) string {
	if or(b.AutoMerge, true) {
		for _, pr := range r.Pulls {
			if pr.HeadSHA == sha && pr.BaseSHA != r.Branches[Branch] {
				return "Conflict merging " + Branch + " into " + b.Ref + "."
			}
		}
	}
	for _, c := range r.checksOf(sha) {
		wanted := b.Contexts == nil || slices.Contains(*b.Contexts, c.Name)
		if wanted && c.Conclusion != "success" && c.Conclusion != "neutral" && c.Conclusion != "skipped" {
			return "Conflict: Commit status checks failed for " + b.Ref + "."
		}
	}
	if b.Contexts != nil {
		for _, name := range *b.Contexts {
			if !slices.ContainsFunc(r.checksOf(sha), func(c Check) bool { return c.Name == name }) {
				return "Conflict: Commit status checks failed for " + b.Ref + "."
			}
		}
	}
	return ""
}

func (s *Server) postDeployment(w http.ResponseWriter, r *http.Request, c caller) {
	var body deploymentBody
	decodeBody(r, &body)
	endIf(!c.may("write"), http.StatusForbidden, "Must have write access to Repository.")
	endInvalid(body.Ref == "", "Deployment", "ref", "missing_field")
	made := body.deployment(s.now().UTC().Truncate(time.Second), c.login)
	endInvalid(runes(made.Environment) > 255 || made.Environment == "", "Deployment", "environment", "invalid")
	err := c.at.do(func(world *world, repo *repository) ([]Event, error) {
		made.SHA = repo.resolve(body.Ref)
		endIf(made.SHA == "", http.StatusUnprocessableEntity, "No ref found for: "+body.Ref)
		conflict := body.conflict(repo, made.SHA)
		endIf(conflict != "", http.StatusConflict, conflict)
		made.ID = world.id()
		repo.environment(world, made.Environment)
		repo.Deployments = append(repo.Deployments, made)
		s.fresh(repo.ID, made.ID)
		return nil, nil
	})
	endOnError(err, "Deployment", "ref")
	answer(w, http.StatusCreated, s.sceneOf(c.at.repo).deployment(*made))
}

// deployed returns the deployment in a path. Without one it ends the call.
func (s *Server) deployed(r *http.Request, c caller) Deployment {
	all := c.at.Deployments()
	i := slices.IndexFunc(all, func(d Deployment) bool { return d.ID == id(r, "id") })
	endMissing(i < 0)
	return all[i]
}

// deleteDeployment deletes a deployment that is no longer active.
func (s *Server) deleteDeployment(w http.ResponseWriter, r *http.Request, c caller) {
	d := s.deployed(r, c)
	endIf(!c.may("write"), http.StatusForbidden, "Must have write access to Repository.")
	endIf(d.State() == "success", http.StatusUnprocessableEntity, "We cannot delete an active deployment unless it is the only deployment in a given environment.")
	err := c.at.do(func(_ *world, repo *repository) ([]Event, error) {
		repo.Deployments = slices.DeleteFunc(repo.Deployments, func(one *Deployment) bool { return one.ID == d.ID })
		return nil, nil
	})
	endOnError(err, "Deployment", "id")
	w.WriteHeader(http.StatusNoContent)
}

// listStatuses returns the newest first.
func (s *Server) listStatuses(w http.ResponseWriter, r *http.Request, c caller) {
	d := s.deployed(r, c)
	sc, all := s.sceneOf(c.at.repo), []object{}
	for _, one := range slices.Backward(d.Statuses) {
		all = append(all, sc.deploymentStatus(d, one))
	}
	page(w, r, s.base, all, nil)
}

// statusBody is the body of POST. https://docs.github.com/rest/deployments/statuses#create-a-deployment-status
type statusBody struct {
	State          string  `json:"state"`
	Target         string  `json:"target_url"`
	Log            string  `json:"log_url"`
	Description    string  `json:"description"`
	Environment    *string `json:"environment"`
	EnvironmentURL string  `json:"environment_url"`
	AutoInactive   *bool   `json:"auto_inactive"`
}

var deploymentStates = []string{"error", "failure", "inactive", "in_progress", "queued", "pending", "success"}

// wrong returns the field that GitHub would refuse; empty: none.
func (b statusBody) wrong() string {
	address := func(s string) bool { return s == "" || webAddress.MatchString(s) }
	switch {
	case !slices.Contains(deploymentStates, b.State):
		return "state"
	case runes(b.Description) > 140:
		return "description"
	case !address(b.Log) || !address(b.Target):
		return "log_url"
	case !address(b.EnvironmentURL):
		return "environment_url"
	}
	return ""
}

func (s *Server) postStatus(w http.ResponseWriter, r *http.Request, c caller) {
	var body statusBody
	decodeBody(r, &body)
	endIf(!c.may("write"), http.StatusForbidden, "Must have write access to Repository.")
	field := body.wrong()
	endInvalid(field != "", "DeploymentStatus", field, "invalid")
	var shape object
	err := c.at.do(func(world *world, repo *repository) ([]Event, error) {
		d := repo.deployment(id(r, "id"))
		must.EndIf(d == nil, errNotFound)
		now := s.now().UTC().Truncate(time.Second)
		d.Environment = or(body.Environment, d.Environment)
		one := DeploymentStatus{
			State: body.State, Description: body.Description, Environment: d.Environment,
			EnvironmentURL: body.EnvironmentURL, LogURL: cmp.Or(body.Log, body.Target), Creator: c.login, CreatedAt: now,
		}
		events := []Event{s.addStatus(world, repo, d, one)}
		if body.State == "success" && or(body.AutoInactive, true) {
			events = append(events, s.retire(world, repo, d, one)...)
		}
		shape = world.scene(s, repo).deploymentStatus(*d, d.Statuses[len(d.Statuses)-1])
		return events, nil
	})
	endOnError(err, "DeploymentStatus", "state")
	answer(w, http.StatusCreated, shape)
}

func (s *Server) addStatus(w *world, r *repository, d *Deployment, one DeploymentStatus) Event {
	one.ID = w.id()
	d.Statuses, d.UpdatedAt = append(d.Statuses, one), one.CreatedAt
	got := *d
	got.Statuses = []DeploymentStatus{one}
	return Event{Name: "deployment_status", Action: "created", Sender: one.Creator, Deploy: got, scene: w.scene(s, r)}
}

// retire makes the earlier deployments of an environment inactive after a success: those that had succeeded, unless they are for
// production or transient.
func (s *Server) retire(w *world, r *repository, by *Deployment, one DeploymentStatus) []Event {
	var events []Event
	for _, d := range r.Deployments {
		if d == by {
			break
		}
		if d.Environment == by.Environment && d.State() == "success" && !d.Transient && !d.Production {
			one.State, one.Description, one.EnvironmentURL, one.LogURL = "inactive", "", "", ""
			events = append(events, s.addStatus(w, r, d, one))
		}
	}
	return events
}

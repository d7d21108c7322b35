package github

import (
	"net/http"
	"slices"
	"time"
)

func (s *Server) environmentCalls() []endpoint {
	return []endpoint{
		{"GET", "/environments", "actions:read", true, s.listEnvironments},
		{"GET", "/git/matching-refs/{ref...}", readFiles, true, s.listMatchingRefs},
		{"DELETE", "/environments/{environment...}", "administration:write", false, s.deleteEnvironment},
	}
}

func (s *Server) listEnvironments(w http.ResponseWriter, r *http.Request, c caller) {
	all := []object{}
	c.at.look(func(world *world, repo *repository) {
		for _, e := range repo.Environments {
			all = append(all, world.scene(s, repo).deploymentEnvironment(e, repo.madeAt(e)))
		}
	})
	page(w, r, s.base, all, func(part []object) any {
		return object{"total_count": len(all), "environments": part}
	})
}

// madeAt is when an environment was made: with its first deployment, unless somebody gave it rules before.
func (r *repository) madeAt(e *environment) time.Time {
	for _, d := range r.Deployments {
		if d.Environment == e.Name {
			return d.CreatedAt
		}
	}
	return installedAt
}

func (sc scene) deploymentEnvironment(e *environment, made time.Time) object {
	return object{
		"id": e.ID, "node_id": nodeID("EN", e.ID), "name": e.Name, "url": sc.repoAPI() + "/environments/" + e.Name,
		"html_url":   sc.web() + sc.repo.Name + "/deployments/activity_log?environments_filter=" + e.Name,
		"created_at": stamp(made), "updated_at": stamp(made), "deployment_branch_policy": nil,
	}
}

// deleteEnvironment deletes an environment and its deployments. Write access to deployments and environments is not enough for it.
func (s *Server) deleteEnvironment(w http.ResponseWriter, r *http.Request, c caller) {
	name := r.PathValue("environment")
	err := c.at.do(func(_ *world, repo *repository) ([]Event, error) {
		if !repo.may(c, "admin") {
			return nil, errMayNot
		}
		was := len(repo.Environments)
		repo.Environments = slices.DeleteFunc(repo.Environments, func(e *environment) bool { return e.Name == name })
		if len(repo.Environments) == was {
			return nil, errNotFound
		}
		repo.Deployments = slices.DeleteFunc(repo.Deployments, func(d *Deployment) bool { return d.Environment == name })
		return nil, nil
	})
	if err != nil {
		fail(w, err, "Environment", "name")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Environments returns the names of the repository's environments, in the order in which they were made.
func (p Place) Environments() (names []string) {
	p.look(func(_ *world, repo *repository) {
		for _, e := range repo.Environments {
			names = append(names, e.Name)
		}
	})
	return names
}

package github

import (
	"cmp"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// actionsBot is the account as which workflow runs act.
const actionsBot = "github-actions[bot]"

// environment is an environment for deployments and its protection rules.
type environment struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Rules []*rule `json:"rules"`
}

// rule is a protection rule: the App's, or that one of some people approves.
type rule struct {
	ID        int64    `json:"id"`
	Reviewers []string `json:"reviewers,omitempty"` // none: the App's rule
}

func (r rule) app() bool { return len(r.Reviewers) == 0 }

// Protect gives an environment its protection rules: the App's own rule, and the people of whom one must approve. Without any, jobs
// need not wait.
func (p Place) Protect(name string, app bool, reviewers ...string) error {
	return p.do(func(w *world, repo *repository) ([]Event, error) {
		must.EndIf(name == "", errInvalid)
		e := repo.environment(w, name)
		e.Rules = nil
		if app {
			e.Rules = append(e.Rules, &rule{ID: w.id()})
		}
		if len(reviewers) > 0 {
			e.Rules = append(e.Rules, &rule{ID: w.id(), Reviewers: reviewers})
		}
		return nil, nil
	})
}

// Deploy adds a deployment that is there already, as another program or an earlier release left it.
func (p Place) Deploy(d Deployment) error {
	return p.do(func(w *world, repo *repository) ([]Event, error) {
		must.EndIf(d.Environment == "" || repo.Commits[d.SHA] == nil, errInvalid)
		d.ID = w.id()
		repo.environment(w, d.Environment)
		repo.Deployments = append(repo.Deployments, &d)
		return nil, nil
	})
}

// environment returns the environment with a name. A job or a deployment that names one makes it, as on GitHub, and it stays.
func (r *repository) environment(w *world, name string) *environment {
	for _, e := range r.Environments {
		if e.Name == name {
			return e
		}
	}
	e := &environment{ID: w.id(), Name: name}
	r.Environments = append(r.Environments, e)
	return e
}

// open lets a job go on whose needs are completed: it waits for its environment's rules, then for its concurrency group, then for a
// runner.
func (s *Server) open(w *world, repo *repository, run *Run, j *Job) []Event {
	var events []Event
	if j.Environment != "" && j.Deployment == 0 {
		e := repo.environment(w, j.Environment)
		events = append(events, s.deploy(w, repo, run, j))
		for _, rule := range e.Rules {
			j.Reviews = append(j.Reviews, runs.Review{Rule: rule.ID, State: passed(run, j, rule.ID)})
		}
		if approved, _ := j.Reviewed(); !approved {
			j.Status, j.CreatedAt = runs.Waiting, s.moment()
			events = append(events, s.jobEvent(w, repo, runs.Waiting, run, j))
			return append(events, s.ask(w, repo, run, j, e)...)
		}
	}
	if j.Status != runs.Pending {
		out, wait := runs.Enter(repo.Runs, runs.Member{Run: run, Job: j})
		events = append(events, s.replace(w, repo, out)...)
		if wait {
			j.Status = runs.Pending
			return events
		}
	}
	return append(events, s.queue(w, repo, run, j)...)
}

// passed returns the decision of a rule in an earlier attempt, if only failed jobs are run again.
func passed(run *Run, j *Job, rule int64) string {
	if !run.OnlyFailed {
		return ""
	}
	for _, o := range run.Jobs {
		i := slices.IndexFunc(o.Reviews, func(r runs.Review) bool { return r.Rule == rule && r.State == runs.Approved })
		if i >= 0 && o.Environment == j.Environment && o.Attempt < run.Attempt {
			return runs.Approved
		}
	}
	return ""
}

// ask sends the App's rules that nobody has decided their request.
func (s *Server) ask(w *world, repo *repository, run *Run, j *Job, e *environment) []Event {
	var events []Event
	for i, rule := range e.Rules {
		if rule.app() && j.Reviews[i].State == "" {
			one := s.jobEvent(w, repo, "requested", run, j)
			one.Name, one.OnHead = "deployment_protection_rule", w.ofRun(repo, run)
			events = append(events, one)
		}
	}
	return events
}

// deploy makes the deployment of a job.
func (s *Server) deploy(w *world, repo *repository, run *Run, j *Job) Event {
	now := s.moment()
	d := &Deployment{
		ID: w.id(), SHA: run.SHA, Ref: cmp.Or(shortRef(run.Ref), run.SHA), Task: "deploy", Environment: j.Environment, Payload: object{},
		Production: j.Environment == "production", Creator: actionsBot, CreatedAt: now, UpdatedAt: now,
	}
	repo.Deployments = append(repo.Deployments, d)
	j.Deployment = d.ID
	return s.deployJob(w, repo, run, j, "pending")[0]
}

// deployJob gives a job's deployment a state.
func (s *Server) deployJob(w *world, repo *repository, run *Run, j *Job, state string) []Event {
	d := repo.deployment(j.Deployment)
	if d == nil || d.State() == state && len(d.Statuses) > 0 {
		return nil
	}
	page := w.scene(s, repo).runPage(run.ID) + "/job/" + itoa(j.ID)
	one := DeploymentStatus{State: state, Environment: d.Environment, LogURL: page, Creator: actionsBot, CreatedAt: s.moment()}
	events := []Event{s.addStatus(w, repo, d, one)}
	if state == "success" {
		events = append(events, s.retire(w, repo, d, one)...)
	}
	return events
}

// review is a decision about an environment of a run, or only words about it.
type review struct {
	environment, state, comment, by string
	rule                            func(rule) bool // which of the environment's rules it is of
}

// review applies a review to the jobs that wait for it.
func (s *Server) review(w *world, repo *repository, run *Run, given review) (_ []Event, err error) {
	defer must.Catch(&err)
	var events []Event
	found := false
	for _, j := range run.Current() {
		if j.Status != runs.Waiting || j.Environment != given.environment {
			continue
		}
		e := repo.environment(w, j.Environment)
		for i := range j.Reviews {
			at := slices.IndexFunc(e.Rules, func(r *rule) bool { return r.ID == j.Reviews[i].Rule })
			if at < 0 || !given.rule(*e.Rules[at]) || j.Reviews[i].State != "" {
				continue
			}
			one := &j.Reviews[i]
			must.EndIf(given.state == "" && len(one.Comments) >= runs.MaxComments, errInvalid)
			if given.comment != "" {
				one.Comments = append(slices.Clone(one.Comments), given.comment)
			}
			one.State, one.By, found = given.state, given.by, true
		}
		switch approved, rejected := j.Reviewed(); {
		case rejected:
			j.Annotations = append(j.Annotations, runs.Annotation{Level: "failure", Message: "The deployment to " + j.Environment + " was rejected: " + given.comment})
			events = append(events, s.complete(w, repo, run, j, runs.Failure)...)
		case approved:
			events = append(events, s.open(w, repo, run, j)...)
		}
	}
	must.EndIf(!found, errInvalid)
	return append(events, s.advance(w, repo, run)...), nil
}

// Review decides about an environment of a run as a person who is one of its reviewers.
func (r Runs) Review(run int64, environment, state, comment, as string) error {
	return r.on(run, func(w *world, repo *repository, run *Run) ([]Event, error) {
		must.EndIf(state != runs.Approved && state != runs.Rejected, errInvalid)
		return r.at.s.review(w, repo, run, review{environment, state, comment, as, func(one rule) bool { return slices.Contains(one.Reviewers, as) }})
	})
}

// Environments returns the names of the repository's environments, in the order in which they were made.
func (p Place) Environments() (names []string) {
	p.look(func(_ *world, repo *repository) {
		names = pick.Map(repo.Environments, func(e *environment) string { return e.Name })
	})
	return names
}

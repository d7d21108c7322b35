package github

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/github/workflow"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// occasion is an event that may start workflows, as it is stored until the foreman has asked which.
type occasion struct {
	Repo       int64           `json:"repo"`
	Event      workflow.Event  `json:"event"`
	Only       string          `json:"only,omitempty"` // the workflow file, if the event is for one alone
	Ref        string          `json:"ref"`
	SHA        string          `json:"sha"`
	HeadBranch string          `json:"headBranch"`
	HeadSHA    string          `json:"headSha"`
	HeadOwner  string          `json:"headOwner,omitempty"`
	Pull       int             `json:"pull,omitempty"`
	Title      string          `json:"title"`
	Actor      string          `json:"actor"`
	Payload    json.RawMessage `json:"payload"`
}

// happened stores the events that may start workflows. What workflow runs do themselves starts none, as on GitHub.
func (s *Server) happened(events []Event) error {
	if s.engine == nil {
		return nil
	}
	for _, e := range events {
		repo := s.world.repoByID(e.scene.repo.ID)
		if repo == nil || e.Sender == actionsBot || strings.HasPrefix(e.Name, "workflow_") {
			continue
		}
		for _, o := range s.occasions(repo, e) {
			if !repo.mentions(o.SHA, o.Event.Name) {
				continue
			}
			body, err := Payload(e)
			if err != nil {
				return err
			}
			o.Payload = body
			s.world.Occasions = append(s.world.Occasions, &o)
			s.rouse()
		}
	}
	return nil
}

const workflows = ".github/workflows/"

// workflowFiles are those of a commit.
func (r *repository) workflowFiles(sha string) map[string]string {
	out := map[string]string{}
	for path, content := range r.Commits[sha] {
		if strings.HasPrefix(path, workflows) && (strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")) {
			out[path] = content
		}
	}
	return out
}

// mentions reports whether a workflow file of a commit has the event's name in it; most events are in none.
func (r *repository) mentions(sha, event string) bool {
	for _, content := range r.workflowFiles(sha) {
		if strings.Contains(content, event) {
			return true
		}
	}
	return false
}

// occasions says for which commits and refs an event may start workflows.
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
func (s *Server) occasions(repo *repository, e Event) []occasion {
	main := repo.Branches[Branch]
	o := occasion{
		Repo: repo.ID, Event: workflow.Event{Name: e.Name, Action: e.Action, Branch: Branch, Default: Branch},
		Ref: "refs/heads/" + Branch, SHA: main, HeadBranch: Branch, HeadSHA: main, Title: e.Name, Actor: e.Sender,
	}
	switch e.Name {
	case "push":
		o.Ref, o.SHA, o.HeadSHA, o.HeadBranch, o.Event.Branch = "refs/heads/"+e.Branch, e.After, e.After, e.Branch, e.Branch
		o.Event.Paths, o.Title, o.Event.Action = between(repo, e.Before, e.After), e.Message, ""
		return []occasion{o}
	case "pull_request":
		return s.pullOccasions(repo, e, o)
	case "issue_comment":
		o.Title = e.PR.Title
		return []occasion{o}
	case "repository_dispatch":
		o.Title = e.Action
		return []occasion{o}
	case "merge_group":
		if e.Action != "checks_requested" {
			return nil
		}
		o.SHA, o.HeadSHA, o.HeadBranch, o.Title = e.Group.Head, e.Group.Head, e.Group.Ref, e.Group.Title
		o.Ref = "refs/heads/" + o.HeadBranch
		return []occasion{o}
	case "deployment_status":
		o.Ref, o.SHA, o.HeadSHA, o.HeadBranch, o.Title = "", e.Deploy.SHA, e.Deploy.SHA, "", "Deployment to "+e.Deploy.Environment
		if branch := repo.branchOf(e.Deploy.Ref); branch != "" {
			o.Ref, o.HeadBranch = "refs/heads/"+branch, branch
		}
		return []occasion{o}
	}
	return nil
}

// pullOccasions are a pull_request, which runs what the pull request's merge would be, and a pull_request_target, which runs what the
// base has.
func (s *Server) pullOccasions(repo *repository, e Event, o occasion) []occasion {
	pr := repo.pull(e.PR.Number)
	if pr == nil {
		return nil
	}
	o.Title, o.Event.Paths, o.HeadBranch, o.HeadSHA = pr.Title, repo.changed(pr), pr.HeadRef, pr.HeadSHA
	if pr.Fork() {
		o.HeadOwner = pr.HeadOwner
	}
	target := o
	target.Event.Name = "pull_request_target"
	o.Pull, target.Pull = pr.Number, pr.Number
	o.Ref, o.SHA = pullRef(pr.Number), repo.mergeCommit(pr)
	return []occasion{o, target}
}

// mergeCommit returns the commit that merging a pull request would make, and makes it.
func (r *repository) mergeCommit(pr *PullRequest) string {
	base := r.Branches[pr.base()]
	sha := commitID(r.Name+"@"+base, pr.Number, pr.Pushes)
	if r.Commits[sha] == nil {
		r.Commits[sha] = r.merged(base, pr)
	}
	return sha
}

// merged returns the files of a commit with the changes of a pull request.
func (r *repository) merged(base string, pr *PullRequest) map[string]string {
	files := maps.Clone(r.Commits[base])
	for _, path := range r.changed(pr) {
		if content, there := r.Commits[pr.HeadSHA][path]; there {
			files[path] = content
		} else {
			delete(files, path)
		}
	}
	return files
}

// branchOf returns the branch that a deployment's ref names; empty: a commit.
func (r *repository) branchOf(ref string) string {
	ref = shortRef(ref)
	if r.Commits[ref] != nil || r.resolve(ref) == "" {
		return ""
	}
	return ref
}

func shortRef(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// between returns the paths in which two commits differ, in order.
func between(r *repository, before, after string) []string {
	return r.changed(&PullRequest{BaseSHA: before, HeadSHA: after})
}

// Schedule starts the workflows that have a schedule, as GitHub's clock does.
func (p Place) Schedule() error {
	return p.raise(func(r *repository, o *occasion) (object, error) {
		o.Event.Name, o.Title = "schedule", "Scheduled"
		return object{"schedule": "0 3 * * *", "workflow": nil}, nil
	})
}

// StartWorkflow starts a workflow with a workflow_dispatch as a person. Ref is a branch; empty: the default one.
func (p Place) StartWorkflow(path, ref string, inputs map[string]any, as string) error {
	return p.raise(func(r *repository, o *occasion) (object, error) {
		ref = cmp.Or(shortRef(ref), Branch)
		sha := r.resolve(ref)
		if sha == "" || r.workflowFiles(sha)[path] == "" {
			return nil, errNotFound
		}
		o.Event.Name, o.Event.Branch, o.Only, o.Actor, o.Title = "workflow_dispatch", ref, path, as, ""
		o.Ref, o.SHA, o.HeadSHA, o.HeadBranch = "refs/heads/"+ref, sha, sha, ref
		return object{"inputs": inputs, "ref": o.Ref, "workflow": path}, nil
	})
}

// raise stores an event that is no webhook of the App's.
func (p Place) raise(fill func(r *repository, o *occasion) (object, error)) error {
	return p.do(func(w *world, r *repository) (_ []Event, err error) {
		defer must.Catch(&err)
		main := r.Branches[Branch]
		o := &occasion{
			Repo: r.ID, Event: workflow.Event{Branch: Branch, Default: Branch}, Ref: "refs/heads/" + Branch, SHA: main,
			HeadBranch: Branch, HeadSHA: main, Actor: "maya",
		}
		payload := must.Get(fill(r, o))
		sc := w.scene(p.s, r)
		payload["repository"], payload["sender"], payload["organization"] = sc.repository(), sc.user(o.Actor), sc.org()
		o.Payload = must.Get(json.Marshal(payload))
		if p.s.engine != nil {
			w.Occasions = append(w.Occasions, o)
			p.s.rouse()
		}
		return nil, nil
	})
}

// dispatchable are the workflow files of the default branch that can be started by hand.
func (r *repository) dispatchable() []string {
	var out []string
	for path, content := range r.workflowFiles(r.Branches[Branch]) {
		if strings.Contains(content, "workflow_dispatch") {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

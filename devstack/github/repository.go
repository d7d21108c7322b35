package github

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// repository is a repository with everything in it.
type repository struct {
	ID           int64                        `json:"id"`
	Name         string                       `json:"name"`          // owner/name
	Old          []string                     `json:"old,omitempty"` // earlier names
	Private      bool                         `json:"private"`
	Access       bool                         `json:"access"` // the App's installation covers it
	Archived     bool                         `json:"archived"`
	Gone         bool                         `json:"gone"` // deleted
	Labels       []*Label                     `json:"labels"`
	Permissions  map[string]string            `json:"permissions"`  // login → role
	Contributors []string                     `json:"contributors"` // logins with a commit in it
	Branches     map[string]string            `json:"branches"`     // name → SHA; pull requests hold their own
	Commits      map[string]map[string]string `json:"commits"`      // SHA → path → content
	Pulls        []*PullRequest               `json:"pulls"`
	Comments     []*Comment                   `json:"comments"`
	Checks       []*Check                     `json:"checks"`
	Deployments  []*Deployment                `json:"deployments"`
	Runs         []*Run                       `json:"runs,omitempty"`
	Environments []*environment               `json:"environments,omitempty"`
	Rules        map[string]branchRules       `json:"rules,omitempty"` // of branches, by their names
	Queue        []*QueueEntry                `json:"queue,omitempty"` // of all merge queues, in their order
}

func newRepository(id int64, name string) *repository {
	r := &repository{
		ID: id, Name: name, Permissions: startPermissions(), Branches: map[string]string{}, Commits: map[string]map[string]string{},
	}
	for _, l := range startLabels {
		r.Labels = append(r.Labels, plainLabel(l))
	}
	return r
}

func (r *repository) owner() string { owner, _, _ := strings.Cut(r.Name, "/"); return owner }

func (r *repository) was(name string) bool {
	return slices.ContainsFunc(r.Old, func(old string) bool { return strings.EqualFold(old, name) })
}

// role returns a login's role: the given one, or read for everybody in a public repository.
func (r *repository) role(login string) string {
	role := r.Permissions[login]
	if role == "" && !r.Private {
		return "read"
	}
	return role
}

var ranks = map[string]int{"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}

// may reports whether somebody has at least a role. The App is judged by its permissions, not by a role.
func (r *repository) may(c caller, role string) bool {
	return c.app || ranks[r.role(c.login)] >= ranks[role]
}

func (r *repository) pull(number int) *PullRequest {
	return pick.First(r.Pulls, func(pr *PullRequest) bool { return pr.Number == number })
}

func (r *repository) comment(id int64) *Comment {
	return pick.First(r.Comments, func(c *Comment) bool { return c.ID == id })
}

func (r *repository) conversation(number int) []*Comment {
	return pick.Every(r.Comments, func(c *Comment) bool { return c.Number == number })
}

func (r *repository) check(id int64) *Check {
	return pick.First(r.Checks, func(c *Check) bool { return c.ID == id })
}

func (r *repository) checksOf(sha string) []Check {
	var out []Check
	for _, c := range r.Checks {
		if c.Head == sha {
			out = append(out, *c)
		}
	}
	return out
}

func (r *repository) deployment(id int64) *Deployment {
	return pick.First(r.Deployments, func(d *Deployment) bool { return d.ID == id })
}

// commit adds a commit with these files to a branch and returns its SHA.
func (r *repository) commit(branch string, files map[string]string) string {
	n := 1
	for r.Commits[commitID(r.Name, 0, n)] != nil {
		n++
	}
	sha := commitID(r.Name, 0, n)
	r.Commits[sha], r.Branches[branch] = files, sha
	return sha
}

// resolve returns the SHA for a branch name or an existing SHA; empty: there is none.
func (r *repository) resolve(ref string) string {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")
	if ref == "HEAD" {
		ref = Branch
	}
	if r.Commits[ref] != nil {
		return ref
	}
	for _, pr := range r.Pulls {
		if pr.HeadRef == ref && !pr.Fork() && !pr.BranchGone {
			return pr.HeadSHA
		}
	}
	return r.Branches[ref]
}

// changed returns the paths in which a pull request differs from its original base, in order.
func (r *repository) changed(pr *PullRequest) []string {
	base, head := r.Commits[pr.BaseSHA], r.Commits[pr.HeadSHA]
	var out []string
	for path, content := range head {
		if old, ok := base[path]; !ok || old != content {
			out = append(out, path)
		}
	}
	for path := range base {
		if _, ok := head[path]; !ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func withFile(files map[string]string, path, content string) map[string]string {
	out := maps.Clone(files)
	if out == nil {
		out = map[string]string{}
	}
	out[path] = content
	return out
}

// touch updates a pull request's updated_at. GitHub uses whole seconds, so two events of one second look alike.
func (pr *PullRequest) touch(now time.Time) {
	if now := now.UTC().Truncate(time.Second); now.After(pr.UpdatedAt) {
		pr.UpdatedAt = now
	}
}

// association returns somebody's association with the repository, in GitHub's terms. People without a merged commit are distinguished
// only as the author of a pull request.
func (w *world) association(r *repository, login string, author bool) string {
	contributed := func(other *repository) bool { return slices.Contains(other.Contributors, login) }
	switch {
	case login == r.owner():
		return "OWNER"
	case slices.Contains(w.Members, login):
		return "MEMBER"
	case ranks[r.Permissions[login]] > ranks["read"]:
		return "COLLABORATOR"
	case contributed(r):
		return "CONTRIBUTOR"
	case !author || strings.HasSuffix(login, "[bot]"):
		return "NONE"
	case slices.ContainsFunc(w.Repos, contributed):
		return "FIRST_TIME_CONTRIBUTOR"
	}
	return "FIRST_TIMER"
}

// snapshot copies a pull request with the values computed from its repository.
func (w *world) snapshot(r *repository, pr *PullRequest) PullRequest {
	out := *pr
	out.Labels = slices.Clone(pr.Labels)
	out.Association = cmp.Or(pr.Association, w.association(r, pr.Author, true))
	out.Changed = len(r.changed(pr))
	return out
}

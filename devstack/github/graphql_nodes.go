package github

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// node is an object of the graph: it returns its fields by name. The query was checked against the schema before.
type node interface {
	kind() string
	get(q *query, field string, args map[string]any) (any, *gqlError)
}

func missing(format string, args ...any) *gqlError {
	return &gqlError{Type: "NOT_FOUND", Message: fmt.Sprintf(format, args...)}
}

var forbidden = gqlError{Type: "FORBIDDEN", Extensions: object{"saml_failure": false}, Message: "Resource not accessible by integration"}

// root is the query's root object.
type root struct{}

func (root) kind() string { return "Query" }

func (root) get(q *query, field string, args map[string]any) (any, *gqlError) {
	switch field {
	case "rateLimit":
		return limitNode{}, nil
	case "viewer":
		return actor{q.c.login, q.w.scene(q.s, nil)}, nil
	}
	name := fmt.Sprint(args["owner"], "/", args["name"])
	r, moved := q.w.repo(name)
	follow, _ := args["followRenames"].(bool)
	if r == nil || moved && !follow || r.Private && !q.c.mayKnow(r) {
		return nil, missing("Could not resolve to a Repository with the name '%s'.", name)
	}
	if q.c.app && !q.c.granted(q.s.app, readAny) {
		problem := forbidden
		return nil, &problem
	}
	return repoNode{r, q.w.scene(q.s, r), false}, nil
}

type limitNode struct{}

func (limitNode) kind() string { return "RateLimit" }

func (limitNode) get(q *query, field string, _ map[string]any) (any, *gqlError) {
	m := &q.s.meter
	h := m.use("graphql", 0, q.s.now())
	return map[string]any{
		"cost": q.cost, "limit": m.limits.PerHour, "nodeCount": 0, "remaining": max(0, m.limits.PerHour-h.used),
		"resetAt": h.start.Add(m.limits.hour()), "used": h.used,
	}[field], nil
}

// actor is a person, a bot or an organisation.
type actor struct {
	login string
	sc    scene
}

func (a actor) kind() string { return a.sc.user(a.login)["type"].(string) }

func (a actor) get(_ *query, field string, _ map[string]any) (any, *gqlError) {
	shape := a.sc.user(a.login)
	return map[string]any{
		"id": shape["node_id"], "databaseId": shape["id"], "url": shape["html_url"],
		"login": strings.TrimSuffix(a.login, "[bot]"), // GraphQL omits a bot's suffix
	}[field], nil
}

// repoNode is a repository, or the fork from which a pull request comes.
type repoNode struct {
	r    *repository
	sc   scene
	fork bool
}

func (repoNode) kind() string { return "Repository" }

func (n repoNode) get(q *query, field string, args map[string]any) (any, *gqlError) {
	owner, name := n.sc.repo.split()
	switch field {
	case "owner":
		return actor{owner, n.sc}, nil
	case "pullRequest":
		return n.pull(q, args["number"])
	case "labels":
		return n.labels(q, args)
	}
	return map[string]any{
		"id": nodeID("R", n.sc.repo.ID), "databaseId": n.sc.repo.ID, "name": name, "nameWithOwner": n.sc.repo.Name,
		"url": n.sc.web() + n.sc.repo.Name, "isArchived": n.r.Archived, "isDisabled": false, "isFork": n.fork, "isPrivate": n.r.Private,
	}[field], nil
}

func (n repoNode) pull(q *query, number any) (any, *gqlError) {
	if q.c.app && !q.c.granted(q.s.app, readPulls) {
		problem := forbidden
		return nil, &problem
	}
	asked, _ := whole(number)
	pr := n.r.pull(int(asked))
	if pr == nil || n.fork || q.s.lateIn(n.r.ID, asked) {
		return nil, missing("Could not resolve to a PullRequest with the number of %v.", number)
	}
	return pullNode{q.w.snapshot(n.r, pr), n}, nil
}

// whole reads an integer, from the query's text or from a variable, which is JSON.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	}
	return 0, false
}

// pageSize reads the size of a page, which GitHub requires: 1 to 100.
func pageSize(connection string, size any) (int, *gqlError) {
	n, ok := whole(size)
	switch {
	case !ok:
		return 0, &gqlError{Type: "MISSING_PAGINATION_BOUNDARIES", Message: fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", connection)}
	case n < 1 || n > 100:
		return 0, &gqlError{Type: "EXCESSIVE_PAGINATION", Message: fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `first` limit of 100 records.", n, connection)}
	}
	return int(n), nil
}

type pullNode struct {
	pr PullRequest
	in repoNode
}

func (pullNode) kind() string { return "PullRequest" }

func (n pullNode) get(_ *query, field string, args map[string]any) (any, *gqlError) {
	pr, sc := n.pr, n.in.sc
	switch field {
	case "author":
		return actor{pr.Author, sc}, nil
	case "repository", "baseRepository":
		return n.in, nil
	case "headRepository":
		return n.headRepository(), nil
	case "headRepositoryOwner":
		owner, _ := sc.head(pr).split()
		return actor{owner, sc}, nil
	case "headRef":
		if pr.BranchGone {
			return nil, nil
		}
		return refNode(pr.HeadRef), nil
	case "labels":
		return labelsOf(pr, sc, n.in, args)
	case "timelineItems":
		return n.labelings(args)
	case "closedAt":
		return stampOrNil(pr.ClosedAt), nil
	case "mergedAt":
		if !pr.Merged {
			return nil, nil
		}
		return stampOrNil(pr.ClosedAt), nil
	}
	id := pullID(sc.repo, pr.Number)
	return map[string]any{
		"id": nodeID("PR", id), "databaseId": id, "fullDatabaseId": itoa(id), "number": pr.Number, "title": pr.Title,
		"url": sc.web() + sc.repo.Name + "/pull/" + itoa(int64(pr.Number)), "authorAssociation": pr.association(),
		"state": n.state(), "closed": !pr.Open, "createdAt": pr.CreatedAt, "updatedAt": pr.UpdatedAt, "isDraft": pr.Draft,
		"isCrossRepository": pr.Fork(), "merged": pr.Merged, "baseRefName": pr.base(), "baseRefOid": pr.BaseSHA,
		"headRefName": pr.HeadRef, "headRefOid": pr.HeadSHA,
	}[field], nil
}

func (n pullNode) state() string {
	switch {
	case n.pr.Merged:
		return "MERGED"
	case n.pr.Open:
		return "OPEN"
	}
	return "CLOSED"
}

func (n pullNode) headRepository() node {
	if !n.pr.Fork() {
		return n.in
	}
	sc := n.in.sc
	sc.repo = sc.head(n.pr)
	return repoNode{n.in.r, sc, true}
}

type refNode string

func (refNode) kind() string { return "Ref" }

func (n refNode) get(_ *query, field string, _ map[string]any) (any, *gqlError) {
	return map[string]any{"id": "REF_" + string(n), "name": string(n)}[field], nil
}

// labelsOf returns a connection.
func labelsOf(pr PullRequest, sc scene, in repoNode, args map[string]any) (any, *gqlError) {
	n, wrong := pageSize("labels", cmp.Or(args["first"], args["last"]))
	if wrong != nil {
		return nil, wrong
	}
	shown := pick.Map(pr.Labels[:min(n, len(pr.Labels))], func(name string) node { return labelNode{sc.label(name), in} })
	return nodePage{"LabelConnection", shown, len(pr.Labels)}, nil
}

// labelNode is a label of a repository; in is zero if it was reached from a pull request.
type labelNode struct {
	Label
	in repoNode
}

func (labelNode) kind() string { return "Label" }

func (n labelNode) get(q *query, field string, args map[string]any) (any, *gqlError) {
	if field == "pullRequests" {
		return n.pulls(q, args)
	}
	return map[string]any{"id": nodeID("LA", n.ID), "name": n.Name, "color": n.Color, "description": orNil(n.Description)}[field], nil
}

type pageInfo bool

func (pageInfo) kind() string { return "PageInfo" }

func (more pageInfo) get(_ *query, field string, _ map[string]any) (any, *gqlError) {
	return map[string]any{"hasNextPage": bool(more), "hasPreviousPage": false}[field], nil
}

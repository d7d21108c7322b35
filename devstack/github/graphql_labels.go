package github

import (
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// labels are the repository's labels, of which GitHub returns those whose name or description has the text that is searched for.
func (n repoNode) labels(q *query, args map[string]any) (any, *gqlError) {
	if q.c.app && !q.c.granted(q.s.app, readPulls) {
		problem := forbidden
		return nil, &problem
	}
	searched, _ := args["query"].(string)
	var names []string
	for _, l := range n.r.Labels {
		if strings.Contains(strings.ToLower(l.Name+" "+l.Description), strings.ToLower(searched)) {
			names = append(names, l.Name)
		}
	}
	return labelsOf(PullRequest{Labels: names}, n.sc, n, args)
}

// pulls are the pull requests with a label, of the states that are asked for.
func (n labelNode) pulls(q *query, args map[string]any) (any, *gqlError) {
	first, wrong := pageSize("pullRequests", args["first"])
	if wrong != nil {
		return nil, wrong
	}
	states, _ := args["states"].([]any)
	var found []node
	if n.in.r == nil {
		return nodePage{"PullRequestConnection", nil, 0}, nil
	}
	for _, pr := range n.in.r.Pulls {
		one := pullNode{q.w.snapshot(n.in.r, pr), n.in}
		if pr.Has(n.Name) && (len(states) == 0 || slices.Contains(states, any(one.state()))) {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b node) int { return b.(pullNode).pr.UpdatedAt.Compare(a.(pullNode).pr.UpdatedAt) })
	return nodePage{"PullRequestConnection", found[:min(first, len(found))], len(found)}, nil
}

// labelings are the events by which labels were added, the last ones.
func (n pullNode) labelings(args map[string]any) (any, *gqlError) {
	last, wrong := pageSize("timelineItems", args["last"])
	if wrong != nil {
		return nil, wrong
	}
	all := pick.Map(n.pr.Labelings, func(one Labeling) node { return labelingNode{one, n} })
	return nodePage{"PullRequestTimelineItemsConnection", all[max(0, len(all)-last):], len(all)}, nil
}

type labelingNode struct {
	Labeling
	of pullNode
}

func (labelingNode) kind() string { return "LabeledEvent" }

func (n labelingNode) get(_ *query, field string, _ map[string]any) (any, *gqlError) {
	switch field {
	case "actor":
		return actor{n.By, n.of.in.sc}, nil
	case "label":
		return labelNode{n.of.in.sc.label(n.Label), n.of.in}, nil
	}
	return map[string]any{"id": "LE_" + n.Label + stamp(n.At), "createdAt": n.At}[field], nil
}

// nodePage is one page of a connection.
type nodePage struct {
	of    string
	shown []node
	all   int
}

func (p nodePage) kind() string { return p.of }

func (p nodePage) get(_ *query, field string, _ map[string]any) (any, *gqlError) {
	switch field {
	case "totalCount":
		return p.all, nil
	case "pageInfo":
		return pageInfo(len(p.shown) < p.all), nil
	}
	return append([]node{}, p.shown...), nil
}

// mutations is the root object of what changes something.
type mutations struct{}

func (mutations) kind() string { return "Mutation" }

func (mutations) get(q *query, _ string, args map[string]any) (any, *gqlError) {
	input, _ := args["input"].(map[string]any)
	return q.minimizeComment(input)
}

// minimizeComment hides a comment. Its author and people with write permission may, and an App with write permission for pull requests.
// https://docs.github.com/graphql/reference/mutations#minimizecomment
func (q *query) minimizeComment(input map[string]any) (any, *gqlError) {
	id, _ := input["subjectId"].(string)
	for _, r := range q.w.Repos {
		for _, one := range r.Comments {
			if nodeID("IC", one.ID) != id || r.Private && !q.c.mayKnow(r) || q.c.app && !q.c.sees(r) {
				continue
			}
			found := commentNode{one, repoNode{r, q.w.scene(q.s, r), false}}
			if !found.mayMinimize(q) {
				problem := forbidden
				return nil, &problem
			}
			one.Minimized = strings.ToLower(input["classifier"].(string))
			return minimized{found, input["clientMutationId"]}, nil
		}
	}
	return nil, missing("Could not resolve to a node with the global id of '%s'", id)
}

type minimized struct {
	of   commentNode
	mark any
}

func (minimized) kind() string { return "MinimizeCommentPayload" }

func (n minimized) get(_ *query, field string, _ map[string]any) (any, *gqlError) {
	if field == "minimizedComment" {
		return n.of, nil
	}
	return n.mark, nil
}

type commentNode struct {
	*Comment
	in repoNode
}

func (commentNode) kind() string { return "IssueComment" }

func (n commentNode) mayMinimize(q *query) bool {
	if q.c.app {
		return q.c.granted(q.s.app, writePulls)
	}
	return n.Author == q.c.login || n.in.r.may(q.c, "write")
}

func (n commentNode) get(q *query, field string, _ map[string]any) (any, *gqlError) {
	return map[string]any{
		"id": nodeID("IC", n.ID), "databaseId": n.ID, "body": n.Body, "isMinimized": n.Minimized != "", "minimizedReason": orNil(n.Minimized),
		"viewerCanMinimize": n.mayMinimize(q), "url": n.in.sc.web() + n.in.sc.repo.Name + "/pull/" + itoa(int64(n.Number)) + "#issuecomment-" + itoa(n.ID),
	}[field], nil
}

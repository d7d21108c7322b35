package github

import (
	"slices"
	"strings"
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
	first, ok := whole(args["first"])
	if !ok || first < 1 || first > 100 {
		return nil, &gqlError{Type: "MISSING_PAGINATION_BOUNDARIES", Message: "You must provide a `first` or `last` value to properly paginate the `pullRequests` connection."}
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
	return nodePage{"PullRequestConnection", found[:min(int(first), len(found))], len(found)}, nil
}

// labelings are the events by which labels were added, the last ones.
func (n pullNode) labelings(args map[string]any) (any, *gqlError) {
	last, ok := whole(args["last"])
	if !ok || last < 1 || last > 100 {
		return nil, &gqlError{Type: "MISSING_PAGINATION_BOUNDARIES", Message: "You must provide a `first` or `last` value to properly paginate the `timelineItems` connection."}
	}
	var all []node
	for _, one := range n.pr.Labelings {
		all = append(all, labelingNode{one, n})
	}
	return nodePage{"PullRequestTimelineItemsConnection", all[max(0, len(all)-int(last)):], len(all)}, nil
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

package github

import "strings"

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

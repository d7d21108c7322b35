package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Repositories returns one page of the repositories that an installation reaches, at most 100, and the number of the next one; 0: it is
// the last. Archived ones are left out. The first page is 1.
func (c *Client) Repositories(ctx context.Context, installation int64, page int) (names []string, next int, err error) {
	ctx = toDecide(ctx)
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, answer, err := client.Apps.ListRepos(ctx, &gh.ListOptions{PerPage: pageSize, Page: page})
		if err != nil {
			return err
		}
		names, next = nil, answer.NextPage
		for _, repo := range got.Repositories {
			if !repo.GetArchived() {
				names = append(names, repo.GetFullName())
			}
		}
		return nil
	})
	return names, next, convertError(fmt.Sprintf("list the repositories of installation %d", installation), err)
}

// How many things one call asks about.
const (
	MaxRepositories = 25 // in one call of LabelledPulls, which then costs at most six points
	MaxLabelled     = 20 // in one call of Labelings
)

// LabelledPull is an open pull request with a label.
type LabelledPull struct {
	PullRef
	Label string
}

const labelledFragment = `fragment labelled on Repository {
  labels(first: 20, query: $prefix) { nodes { name pullRequests(states: OPEN, first: 20, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { number } } } }
}`

// LabelledPulls returns the open pull requests of at most MaxRepositories repositories that have a label beginning with a prefix, in one call: for each
// of the first 20 such labels the 20 that changed last. An error about one repository is returned beside what was found in the others.
func (c *Client) LabelledPulls(ctx context.Context, installation int64, repos []string, prefix string) (found []LabelledPull, err error) {
	doing := fmt.Sprintf("look for labels in %d repositories of installation %d", len(repos), installation)
	if len(repos) > MaxRepositories {
		return nil, fmt.Errorf("%s: want at most %d", doing, MaxRepositories)
	}
	ask := graphRequest{Variables: map[string]any{"prefix": prefix}}
	declared, asked := []string{"$prefix: String!"}, ""
	for i, repo := range repos {
		owner, name, err := splitRepository(repo)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		declared = append(declared, fmt.Sprintf("$o%d: String!, $n%d: String!", i, i))
		asked += fmt.Sprintf("  r%d: repository(owner: $o%d, name: $n%d) { ...labelled }\n", i, i, i)
		ask.Variables[fmt.Sprintf("o%d", i)], ask.Variables[fmt.Sprintf("n%d", i)] = owner, name
	}
	ask.Query = fmt.Sprintf("query(%s) {\n  rateLimit { cost remaining resetAt }\n%s}\n%s", strings.Join(declared, ", "), asked, labelledFragment)
	got, err := c.queryGraphQL(ctx, installation, ask)
	if err != nil {
		return nil, convertError(doing, err)
	}
	var wrong []error
	for i, repo := range repos {
		var seen *struct {
			Labels struct {
				Nodes []struct {
					Name         string
					PullRequests struct{ Nodes []struct{ Number int } }
				}
			}
		}
		alias := fmt.Sprintf("r%d", i)
		for _, e := range got.Errors {
			if about, _ := e.concernsAlias(alias); about {
				wrong = append(wrong, fmt.Errorf("%s: %w", repo, e))
			}
		}
		if err := json.Unmarshal(got.Data[alias], &seen); err != nil || seen == nil {
			continue
		}
		for _, label := range seen.Labels.Nodes {
			if !strings.HasPrefix(strings.ToLower(label.Name), prefix) { // GitHub searches names and descriptions
				continue
			}
			for _, pr := range label.PullRequests.Nodes {
				found = append(found, LabelledPull{PullRef{repo, pr.Number}, label.Name})
			}
		}
	}
	return found, convertError(doing, errors.Join(wrong...))
}

// Labeling says who added a label last, and when.
type Labeling struct {
	Label string
	By    string // login; empty: the account was deleted
	ByID  int64  // GitHub's id of the account; 0: it was deleted
	Bot   bool   // the account is a bot's, by its type
	At    time.Time
}

// Labelled is a pull request with who added its labels.
type Labelled struct {
	PullLook
	Added []Labeling // the newest of the last 100, oldest first
}

const addedFragment = `fragment added on PullRequest {
  timelineItems(last: 100, itemTypes: [LABELED_EVENT]) {
    nodes { ... on LabeledEvent { createdAt label { name } actor { __typename login ... on User { databaseId } ... on Bot { databaseId } } } }
  }
}`

// Labelings returns at most MaxLabelled pull requests with who added their labels, in one call.
func (c *Client) Labelings(ctx context.Context, installation int64, refs []PullRef) ([]Labelled, error) {
	doing := fmt.Sprintf("ask who labelled %d pull requests of installation %d", len(refs), installation)
	if len(refs) > MaxLabelled {
		return nil, fmt.Errorf("%s: want at most %d", doing, MaxLabelled)
	}
	ask := pullsQuery(refs)
	ask.Query = strings.ReplaceAll(ask.Query, "{ ...pull }", "{ ...pull ...added }") + "\n" + addedFragment
	got, err := c.queryGraphQL(ctx, installation, ask)
	if err != nil {
		return nil, convertError(doing, err)
	}
	out := make([]Labelled, 0, len(refs))
	for i, ref := range refs {
		alias := fmt.Sprintf("p%d", i)
		one := Labelled{PullLook: got.lookAtPull(alias, ref)}
		if one.Err == nil && !one.Gone {
			one.Added, one.Err = got.readLabelings(alias)
		}
		out = append(out, one)
	}
	return out, nil
}

// readLabelings reads who labelled one pull request.
func (a pullsAnswer) readLabelings(alias string) (all []Labeling, err error) {
	var repo struct {
		PullRequest struct {
			TimelineItems struct {
				Nodes []struct {
					CreatedAt time.Time
					Label     struct{ Name string }
					Actor     *struct {
						Typename   string `json:"__typename"`
						Login      string
						DatabaseID int64 `json:"databaseId"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(a.Data[alias], &repo); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	for _, node := range repo.PullRequest.TimelineItems.Nodes {
		one := Labeling{Label: node.Label.Name, At: node.CreatedAt.UTC()}
		if by := node.Actor; by != nil {
			one.By, one.ByID, one.Bot = by.Login, by.DatabaseID, IsBot(by.Typename)
			if one.Bot { // GraphQL leaves out the end of the login that REST writes
				one.By += "[bot]"
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// queryGraphQL makes one GraphQL call as an installation.
func (c *Client) queryGraphQL(ctx context.Context, installation int64, ask graphRequest) (got pullsAnswer, err error) {
	ctx = toDecide(ctx)
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) (err error) {
		got, err = c.postGraphQL(ctx, client, installation, ask)
		return err
	})
	return got, err
}

// postGraphQL makes one GraphQL call with an installation's client.
func (c *Client) postGraphQL(ctx context.Context, client *gh.Client, installation int64, ask graphRequest) (got pullsAnswer, err error) {
	req, err := client.NewRequest(http.MethodPost, c.graphURL(), ask)
	if err != nil {
		return got, err
	}
	answer, err := client.Do(ctx, req, &got)
	if err != nil {
		return got, err
	}
	return got, c.responseError(ctx, installation, got, answer.Header)
}

package github

import gh "github.com/google/go-github/v66/github"

// allPages returns what a list of GitHub's has on all its pages. list asks for one of them.
func allPages[T any](list func(gh.ListOptions) ([]T, *gh.Response, error)) (all []T, err error) {
	at := gh.ListOptions{PerPage: pageSize}
	for {
		page, answer, err := list(at)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if answer.NextPage == 0 {
			return all, nil
		}
		at.Page = answer.NextPage
	}
}

package github

import (
	"context"
	"slices"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops"
)

// GitHub's limits for annotations: how many in one call, and how many characters in each.
// https://docs.github.com/rest/checks/runs#update-a-check-run
const (
	batch      = 50
	maxTitle   = 255
	maxMessage = 16 << 10 // 64 KB in bytes, with up to four bytes a character
)

// uniqueAnnotations returns the annotations as GitHub will show them, without duplicates.
func uniqueAnnotations(all []chatops.Annotation) []chatops.Annotation {
	var out []chatops.Annotation
	for _, a := range all {
		a.Title, a.Message, a.Line = truncateText(a.Title, maxTitle), truncateText(a.Message, maxMessage), max(a.Line, 1)
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

func toGitHubAnnotations(some []chatops.Annotation) []*gh.CheckRunAnnotation {
	var out []*gh.CheckRunAnnotation
	for _, a := range some {
		out = append(out, &gh.CheckRunAnnotation{
			Path: new(a.Path), StartLine: new(a.Line), EndLine: new(a.Line),
			AnnotationLevel: new(a.Level), Title: nilIfEmpty(a.Title), Message: new(a.Message),
		})
	}
	return out
}

func firstOf(all []chatops.Annotation) []chatops.Annotation { return all[:min(batch, len(all))] }

// sendRest sends what did not fit into the first call.
func (w *checkWriter) sendRest(ctx context.Context, id int64, all []chatops.Annotation) error {
	for len(all) > batch {
		all = all[batch:]
		if _, err := w.sendAnnotations(ctx, id, firstOf(all)); err != nil {
			return err
		}
	}
	return nil
}

// compareAnnotations finds the wanted annotations that a run lacks, after a crash between two calls or a lost response, and whether it has one
// that is no longer wanted.
func (w *checkWriter) compareAnnotations(ctx context.Context, id int64) (missing []chatops.Annotation, stale bool, err error) {
	if len(w.wanted) == 0 {
		return nil, false, nil // the response to the update counts them
	}
	missing = slices.Clone(w.wanted)
	opts := &gh.ListOptions{PerPage: pageSize}
	for {
		page, answer, err := w.client.Checks.ListCheckRunAnnotations(ctx, w.owner, w.repo, id, opts)
		if err != nil {
			return nil, false, asGone(err)
		}
		for _, one := range page {
			have := chatops.Annotation{
				Path: one.GetPath(), Line: one.GetStartLine(), Level: one.GetAnnotationLevel(),
				Title: one.GetTitle(), Message: one.GetMessage(),
			}
			if !slices.Contains(w.wanted, have) {
				return nil, true, nil
			}
			missing = slices.DeleteFunc(missing, func(a chatops.Annotation) bool { return a == have })
		}
		if answer.NextPage == 0 {
			return missing, false, nil
		}
		opts.Page = answer.NextPage
	}
}

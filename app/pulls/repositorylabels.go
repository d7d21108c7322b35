package pulls

import (
	"cmp"
	"context"
	"errors"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// FileProblems returns remarks on a repository's file, each at its line: its errors or, if it has none, what the current
// catalogue does not know.
func (s *Service) FileProblems(raw []byte) []chatops.Annotation {
	_, err := profiles.LoadRepositoryFile(raw)
	var wrong profiles.Problems
	if errors.As(err, &wrong) {
		return toAnnotations(wrong, "failure")
	}
	return toAnnotations(s.catalogue().Doubts(raw), "warning")
}

func toAnnotations(problems profiles.Problems, level string) []chatops.Annotation {
	var out []chatops.Annotation
	for _, p := range problems {
		title, message := sayFileProblem(p.Field, p.Got, p.Accept)
		out = append(out, chatops.Annotation{Path: p.File, Line: p.Line, Level: level, Title: title, Message: message})
	}
	return out
}

// OurLabels returns our labels for a repository: those of every profile that people can request without an admin and that the
// file on its default branch allows.
func (s *Service) OurLabels(ctx context.Context, installation int64, repo string) ([]chatops.Label, error) {
	file, _, err := s.readFile(ctx, pullrequests.PullRequest{Installation: installation, Repo: repo, Base: "HEAD"})
	if err != nil {
		return nil, err
	}
	asks := policy.Request{File: file}
	var list []chatops.LabelledProfile
	for _, p := range s.catalogue().All() {
		if !p.Enabled || p.AdminOnly || !asks.Listed(p.Name) {
			continue
		}
		region, _ := p.Region(p.DefaultRegion)
		list = append(list, chatops.LabelledProfile{Name: p.Name, HourlyCents: region.HourlyCents, TTL: p.DefaultTTL})
	}
	return chatops.Labels(list), nil
}

// sayFileProblem says at a line of a repository's file what is wrong there and what would be accepted; field is empty if it is about
// the whole file.
func sayFileProblem(field, got, accept string) (title, message string) {
	return cmp.Or(field, "the file"), got + "; accepted: " + accept
}

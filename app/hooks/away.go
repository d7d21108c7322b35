package hooks

import (
	"context"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

// endsOnly reports whether a delivery can do nothing but end clusters. What it asks GitHub is the last to wait for a rate limit.
func endsOnly(d store.Delivery) bool {
	if d.Source != SourceGitHub {
		return false
	}
	e, err := read(d.Body)
	switch {
	case err != nil:
		return false
	case d.Event == onPullRequest:
		return e.Action == actionClosed || unlabeled(e)
	case d.Event == onCheckRun:
		return e.RequestedAction != nil && e.RequestedAction.Identifier == chatops.ActionDestroy
	case d.Event != onComment:
		return false
	}
	lines := chatops.Parse(e.Comment.Body)
	for _, line := range lines {
		if line.Command == nil || line.Command.Verb != chatops.VerbDestroy {
			return false
		}
	}
	return len(lines) > 0
}

// unlabeled reports whether a label of ours was taken off.
func unlabeled(e webhook) bool {
	return e.Action == pulls.ActionUnlabeled && len(ours([]string{e.Label.Name})) > 0
}

// endEarly does what a comment that has to wait decides for itself: the clusters that it asks to destroy get their end.
func (w *InboxWorker) endEarly(ctx context.Context, d store.Delivery) error {
	if d.Source != SourceGitHub || d.Event != onComment {
		return nil
	}
	e, err := decode(d.Event, d.Body)
	if err != nil || sound(e) != nil {
		return nil // it is given up in its turn
	}
	return w.pulls.EndEarly(github.ToEnd(ctx), said(e))
}

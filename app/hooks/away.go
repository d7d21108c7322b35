package hooks

import (
	"context"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// endsOnly reports whether a delivery can only end clusters. Its calls to GitHub are the last to wait for a rate limit.
func endsOnly(d inbox.Delivery) bool {
	if d.Source != SourceGitHub {
		return false
	}
	e, err := decodeBody(d.Event, d.Body)
	switch {
	case err != nil:
		return false
	case d.Event == onPullRequest:
		return e.Action == actionClosed || removesOurLabel(e)
	case aboutRun(d.Event):
		return e.Action == finished
	case d.Event == onCheckRun:
		return e.RequestedAction != nil && e.RequestedAction.Identifier == chatops.ActionDestroy
	case !isComment(d.Event):
		return false
	}
	lines := chatops.Parse(e.commentIn(d.Event).Body)
	for _, line := range lines {
		if line.Command == nil || line.Command.Verb != chatops.VerbDestroy {
			return false
		}
	}
	return len(lines) > 0
}

// removesOurLabel reports whether one of our labels was removed.
func removesOurLabel(e webhook) bool {
	return e.Action == pulls.ActionUnlabeled && len(ourLabels([]string{e.Label.Name})) > 0
}

// endEarly does the part of a waiting comment that needs no call to GitHub: it ends the clusters that the comment asks to destroy.
func (w *InboxWorker) endEarly(ctx context.Context, d inbox.Delivery) error {
	if d.Source != SourceGitHub || !isComment(d.Event) {
		return nil
	}
	e, err := decodeStored(d.Event, d.Body)
	if err != nil || checkComment(d.Event, e) != nil {
		return nil // it is given up when it is processed
	}
	return w.pulls.EndEarly(github.ToEnd(ctx), toCommentEvent(d.Event, e))
}

package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
)

// OtherCommit tells a commenter that the commit they approve is not the pull request's newest.
func OtherCommit(actor string, c chatops.Command, head string) string {
	return fmt.Sprintf("@%s, the pull request is at %s and not at %s, so nothing was approved.%s", actor, chatops.Code(chatops.ShortSHA(head)), chatops.Code(c.Commit), lookAt(c, head))
}

// NewCommit tells a commenter that the pull request moved to a commit for which no approval was requested yet.
func NewCommit(actor string, c chatops.Command, head string) string {
	return fmt.Sprintf("@%s, the pull request is now at %s, for which no approval was requested yet, so nothing was approved.%s", actor, chatops.Code(chatops.ShortSHA(head)), lookAt(c, head))
}

// NotAwaited tells a commenter that their approval was written before it was requested for this commit.
func NotAwaited(actor string, c chatops.Command, cluster, head string) string {
	return fmt.Sprintf("@%s, `%s` was not waiting for approval of %s when you wrote this, so nothing was approved.%s", actor, cluster, chatops.Code(chatops.ShortSHA(head)), lookAt(c, head))
}

// lookAt says what to look at and what to type then.
func lookAt(c chatops.Command, head string) string {
	if head == "" {
		return " Look at its newest commit, and approve it then."
	}
	text := chatops.Prefix + " " + string(chatops.VerbApprove)
	if c.Profile != "" {
		text += " " + c.Profile
	}
	return fmt.Sprintf(" Look at the commit %s, then type %s.", chatops.Code(head), chatops.Code(text+" "+head))
}

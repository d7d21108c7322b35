package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
)

// SlackNotStored answers a request from Slack that could not be confirmed to be stored: the database is slow or unreachable.
const SlackNotStored = "ocpctl could not store this request, because its database did not answer in time. If nothing happens within a minute, send it again."

// SlackOtherWorkspace answers a command from a workspace that the server's configuration does not list.
const SlackOtherWorkspace = "Nothing was done: ocpctl takes no requests from this workspace. Ask a platform admin which one it serves."

// SlackTooLong answers a command with more characters than a command can have.
func SlackTooLong(most int) string {
	return fmt.Sprintf("Nothing was done: a command has at most %d characters. %s lists the commands.", most, chatops.Code("/ocp help"))
}

// Why somebody in Slack may do nothing here, whatever their roles are.
const (
	SlackBot         = "ocpctl takes requests from people. This one is from an app; use the API for that, with a token."
	SlackDeactivated = "This Slack account is deactivated. Ask an administrator of the workspace."
	SlackGuest       = "Guests of the workspace cannot use ocpctl. Ask a full member to do it for you, or ask an administrator of the workspace to make you a full member."
	SlackStranger    = "ocpctl works for members of its own workspace, and you are a member of another organization. Ask somebody here to do it."
	SlackUnknown     = "Slack does not let ocpctl see your account, as is usual for members of other organizations. Ask a member of this workspace to do it."
)

// SlackUnconfirmed tells somebody that Slack did not say in time who they are.
const SlackUnconfirmed = "Nothing was done: Slack did not confirm in time that you are a member of this workspace. Try again in a few minutes."

// SlackScopeMissing tells somebody that the Slack app may not ask who people are.
const SlackScopeMissing = "Nothing was done: ocpctl's Slack app may not ask Slack who you are, because it lacks the scope `users:read`. " +
	"Ask a platform admin to update the app from `deploy/slack-app.yaml` and to install it again."

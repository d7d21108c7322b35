package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
)

// SlackNotStored answers a request from Slack that could not be confirmed to be stored: the database is slow or unreachable.
const SlackNotStored = "ocpctl could not store this request, because its database does not answer in time. If nothing happens within a minute, send it again."

// SlackOtherWorkspace answers a command from a workspace that the server's configuration does not list.
const SlackOtherWorkspace = "ocpctl does not listen to this workspace; nothing was stored."

// SlackTooLong answers a command with more characters than a command can have.
func SlackTooLong(most int) string {
	return fmt.Sprintf("Nothing was done: a command has at most %d characters. %s lists the commands.", most, chatops.Code("/ocp help"))
}

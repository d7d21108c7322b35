package slack

import "github.com/ocpctl/ocpctl/chatops/messages"

// formTitle is replaced by sl-intake's at the merge.
func formTitle(string) string { return messages.CreateFormTitle }

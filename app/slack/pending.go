package slack

import "github.com/ocpctl/ocpctl/chatops/messages"

// formTitle is the title of the modal that shows what a submitted form led to.
func formTitle(string) string { return messages.CreateFormTitle }

package messages

// SlackNotStored answers a request from Slack that could not be confirmed to be stored: the database is slow or unreachable.
const SlackNotStored = "ocpctl could not store this request, because its database did not answer in time. If nothing happens within a minute, send it again."

// SlackOtherWorkspace answers a command from a workspace that the server's configuration does not list.
const SlackOtherWorkspace = "Nothing was done: ocpctl takes no requests from this workspace. Ask a platform admin which one it serves."

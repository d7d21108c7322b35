package lifecycle

// Activity is something that counts as use of a cluster, in words for people. The list is complete: the store notes each of them in the row,
// and docs/sleep.md tells people of each.
type Activity string

// What counts as use.
const (
	ActivityPush   Activity = "a push to its pull request"
	ActivityAccess Activity = "somebody asked for access to it"
	ActivityWait   Activity = "a job waits for it"
	ActivityTurn   Activity = "a pipeline run asked for its turn on it"
	ActivityRun    Activity = "a pipeline run works with it" // again and again while the run goes on
	ActivityWake   Activity = "somebody woke it"
	ActivitySlept  Activity = "its time to sleep was over"
	ActivityExtend Activity = "somebody extended it"
	ActivityHold   Activity = "somebody held it"

	ActivityRequests Activity = "people sent requests to its API" // as its API server counts them, seen by an attempt of kind Observe
)

// Activities are all of them.
var Activities = []Activity{
	ActivityPush, ActivityAccess, ActivityWait, ActivityTurn, ActivityRun, ActivityWake, ActivitySlept, ActivityExtend, ActivityHold,
	ActivityRequests,
}

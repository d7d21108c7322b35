package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
)

// NoDelivery tells an admin that a delivery is not stored.
func NoDelivery(id string) string {
	return fmt.Sprintf("The delivery %s does not exist or was deleted. The list of deliveries shows those that are kept.", id)
}

// NoReport is the answer to a request for a usage report that cannot be made; its problem follows.
const NoReport = "This report does not exist."

// UnknownReport is the problem with a usage report that cannot be made.
func UnknownReport(by string, from, to time.Time, groups []string) Problem {
	return Problem{fmt.Sprintf("%q, from %s to %s", by, chatops.Time(from), chatops.Time(to)), []string{
		strings.Join(groups, ", ") + " or tag:<key>", "from before to"}}
}

// NoBill tells somebody that the server does not know what the cloud billed.
const NoBill = "The server has not read a billing export, so actual costs are not known. Ask an administrator to set bill in its configuration."

// UnusablePeriod is the problem with a period over which there is no summary.
func UnusablePeriod(from, to time.Time) Problem {
	return Problem{fmt.Sprintf("from %s to %s", chatops.Time(from), chatops.Time(to)), []string{"a time before the end, at most two years before it"}}
}

// NoReportOfTeam tells somebody that they may not read the report on a team, whether or not it exists.
func NoReportOfTeam(team string) string {
	return fmt.Sprintf("The team %q does not exist, or you may not read its report. Leave out the team to read the report of your own teams.", team)
}

// InvalidPaths is the answer to a catalogue with invalid file paths; they follow, each with InvalidPath.
const InvalidPaths = "Some paths are not valid."

// InvalidPath is the problem with a path that cannot be in a catalogue.
var InvalidPath = Problem{"it is not a valid file path", []string{"profiles/<name>.yaml", "teams/…", "quotas/…", "policies/…", "identities/…"}}

// UnsoundCatalogue tells whoever may not see the errors in the catalogue's files that there are some.
const UnsoundCatalogue = "the files have errors, so the previous catalogue stays active; platform admins can see the errors"

// CatalogueFolder says what would be accepted instead of files that are no catalogue at all.
const CatalogueFolder = "a directory with profiles/*.yaml"

// NoRepositoryName is the answer to text that cannot name a repository; its problem follows.
const NoRepositoryName = "This is not the name of a repository."

// InvalidRepository is the problem with text that cannot name a repository.
func InvalidRepository(repo string) Problem {
	return Problem{fmt.Sprintf("%.100q", repo), []string{"owner/name, as on GitHub"}}
}

// UnknownRepository tells an admin that the server's configuration does not name a repository.
func UnknownRepository(repo string) string {
	return fmt.Sprintf("The server's configuration has no entry for the repository %q. Name a repository that has one, as owner/name.", repo)
}

// LabelsKeyReused tells an admin that their Idempotency-Key belongs to the labels of another repository.
func LabelsKeyReused(repo string) string {
	return fmt.Sprintf("This Idempotency-Key was already used for the labels of %s. Use a new key.", repo)
}

// NoLabelChange tells an admin that a change of labels is not stored.
func NoLabelChange(id string) string {
	return fmt.Sprintf("The label change %q does not exist. Finished ones are deleted after a while. Request the labels again; correct labels are not changed.", id)
}

// AppNotInstalled tells an admin that the App does not reach a repository.
func AppNotInstalled(repo string) string {
	return fmt.Sprintf("The App is not installed on %s. Install it there first.", repo)
}

// NamesMissing tells an admin, on a webhook delivery, that an event about a renamed or moved repository lacks its names.
func NamesMissing(action string) string {
	return fmt.Sprintf("A repository that was %s needs its names before and after.", action)
}

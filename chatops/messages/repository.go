package messages

import (
	"fmt"
)

// Archived ends the reason for ending the clusters of an archived repository, which begins with its name: the repository can be seen,
// but nothing can be written there.
const Archived = " was archived"

// AppIsBack is the reason why clusters go on that were to end because the App did not reach their repository.
const AppIsBack = "the App is there again"

// AppRemoved is the reason why the clusters of a repository end that the App was removed from.
func AppRemoved(repo string) string { return "the App was removed from " + repo }

// AppSuspended is the reason why the clusters of a repository end on which the App was suspended.
func AppSuspended(repo string) string { return "the App was suspended on " + repo }

// RepositoryDeleted is the reason why the clusters of a deleted repository end.
func RepositoryDeleted(repo string) string { return repo + " was deleted" }

// RepositoryUnarchived is the reason why the clusters of a repository go on that was archived and is not any more.
func RepositoryUnarchived(repo string) string { return repo + " is no longer archived" }

// RepositoryLeft is the reason why the clusters of a repository end that moved out of the App's reach.
func RepositoryLeft(to string) string {
	return "the repository moved to " + to + ", where the App is not installed"
}

// RepositoryMoved is the reason in the audit trail for the new name or place of a repository's clusters; action is what GitHub calls it.
func RepositoryMoved(from, action, to string) string {
	return fmt.Sprintf("%s was %s to %s", from, action, to)
}

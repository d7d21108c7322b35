package messages

// AppRemoved is the reason why the clusters of a repository end that the App was removed from.
func AppRemoved(repo string) string { return "the App was removed from " + repo }

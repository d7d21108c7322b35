// Package count counts what is left of a cluster in AWS: one pass of queries, each with its result, for the proof that releases the
// cluster.
//
// It must never report an unanswered query as an empty result, never count what is not this cluster's, and never share code with what
// deletes. It searches by tag, by name and by VPC (plan.go), trusts no index (tagging.go confirms with a describe call what the
// tagging API lists, because that also lists deleted resources), and has its own clients, names and tags.
// What a cluster can consist of and how it is listed stands in package kinds, from which the inventory is derived, too.
//
// runner/cloud/aws has queries of its own for its deletions, some of them very similar. That is intended: a mistake in a shared query
// would hide a leftover from the deletion and from the count alike, and the proof would be worthless. So a fix on one side must be
// checked against the other, and the two must not share a helper. Only New, Client and Verify are exported.
package count

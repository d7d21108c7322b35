// Package count says what is left of a cluster in AWS: one pass of questions, each with its answer, for the proof that
// releases the cluster.
//
// It must never report an unanswered question as an empty answer, never count what is not this cluster's, and never share
// a line with what deletes. It asks by tag, by name and by VPC (plan.go), trusts no index (tagging.go confirms by a
// describe what the tagging API tells, which remembers the deleted), and knows its clients, names, tags and listings for
// itself.
//
// runner/cloud/aws has look-ups of its own, for its deletions, and some of them read much like these. That is wanted: a
// mistake in a look-up that both used would hide a leftover from the deletion and from the count alike, and the proof
// would be of nothing. So whoever mends one side looks at the other, and makes no common helper of the two. Of this
// package only New, Client and Verify are seen from outside.
package count

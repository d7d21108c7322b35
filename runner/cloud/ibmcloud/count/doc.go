// Package count counts what is left of a cluster in IBM Cloud: one pass of queries, each with its result, for the proof that releases
// the cluster.
//
// It must never report an unanswered query as an empty result, never count what is not this cluster's, and never share code with what
// deletes. IBM's resources have no tags that could be relied on, so it lists whole regions and whole services, every list to its last
// page, and selects itself what is the cluster's: by resource group, by VPC, and by names that contain the infraID (ownership.go). It
// trusts no index: what Global Search finds is confirmed by a get.
//
// runner/cloud/ibmcloud has queries of its own for its deletions, some of them very similar. That is intended: a mistake in a shared
// query would hide a leftover from the deletion and from the count alike. So a fix on one side must be checked against the other, and
// the two must not share a helper. Only New, Config, Client and Verify are exported.
//
// Three kinds of leftovers cannot be told apart from other clusters' once what they refer to is gone for good: an authorization whose
// Object Storage instance was reclaimed, a permitted network whose VPC was deleted, and API keys without their service ID. The count
// finds them as long as the instance, the VPC or the service ID can still be looked up; the account scan lists the others.
package count

// Package aws makes the AWS calls for one cluster: it finds what would prevent an install, measures the account's quotas, counts what
// is left, and makes the few deletions that openshift-install leaves to us.
//
// It must never report an unanswered query as an empty result, never count or delete what is not proven to be this cluster's, and
// delete only by exact name. Endpoints and credentials come from the SDK's default chain unless New is told otherwise.
//
// Remove deletes the leak classes of openshift-install (a create killed between two calls, records without a twin, untaggable
// profiles) and what ccoctl created, each looked up by its name right before the deletion. Verify is implemented by another package
// (count), which shares no code with this one: what a query here cannot see, the count still names. Some small queries are therefore
// written twice, and neither side may use the other's. One file per service or concern.
//
// deploy/terraform/policies/permissions.json lists the permissions that the runner needs besides those of openshift-install and ccoctl;
// a test compares the list with the calls of a whole life.
//
// A missing permission makes a quota Unknown, a preflight query a warning, and a verification never clean.
package aws

// Package aws asks AWS about one cluster: what stands in the way of it, what is left of it, and it makes the few
// deletions openshift-install leaves to us.
//
// It must never report an unanswered question as an empty answer, and must never delete anything but by exact name.
// Addresses and credentials come from the SDK's default chain alone. One file per service.
package aws

// Package aws is a small AWS for demos and tests: one HTTP server that speaks the real wire protocols of STS, EC2, ELBv2,
// IAM, Route 53 and the Resource Groups Tagging API, checks every SigV4 signature, keeps what was created, enforces the
// order in which things can be deleted, and counts what is left on its own.
//
// The official SDK reaches it through AWS_ENDPOINT_URL; product code must not be able to tell that it is not AWS, and must
// never import this package. It knows nothing about permissions, prices or data planes: an instance is a row that changes
// its state. What it does not know it refuses as the real service refuses an unknown action, and logs the name.
//
// Beside the AWS protocols it has an administrator's door for tests and demos, see Server and /_standin/.
package aws

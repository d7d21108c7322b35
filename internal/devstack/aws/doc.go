// Package aws is a small AWS for demos and tests: one HTTP server that speaks the real wire protocols of STS, EC2, both
// generations of load balancing, IAM, Route 53, the Resource Groups Tagging API, Service Quotas, Organizations (whose an account is) and Secrets Manager,
// checks every SigV4 signature, keeps what was created, enforces the quotas and the order in which things can be deleted,
// and counts what is left on its own.
//
// The official SDK reaches it through AWS_ENDPOINT_URL; product code must not be able to tell that it is not AWS, and must
// never import this package. It knows nothing about permissions, prices or data planes: an instance is a row that changes
// its state. What it does not know it refuses as the real service refuses an unknown action, and logs the name.
//
// Its quotas are generous unless Config.Limits or SetLimit say otherwise: a demo runs more clusters at once than a new
// account could. Values of secrets are in the answers to who may read them and in the state file, and in no listing.
//
// Trouble comes on demand, from Go or over the administrator's door (see Server and /_standin/), and is forgotten when the
// process ends: refusals, throttling, delays, reads that lag behind writes, small pages. What is pinned, which account the
// caller is in and which limits were set is part of the world, and kept with it.
package aws

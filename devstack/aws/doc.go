// Package aws is a small AWS for demos and tests: one HTTP server with the real wire protocols of STS, EC2, both generations of load
// balancing, IAM, Route 53, the Resource Groups Tagging API, Service Quotas, Organizations (the organisation of an account) and S3's lists
// of buckets. It checks every SigV4 signature, stores what was created, enforces the quotas and the order in which things can be
// deleted, and can count what is left.
//
// The official SDK uses it through AWS_ENDPOINT_URL; product code must not be able to tell that it is not AWS, and must never import
// this package. It implements no data planes: an instance is a row that changes its state. It has a meter of what exists (Meter). It refuses unknown actions
// as the real service does, and logs their names.
//
// Its quotas are generous unless Config.Limits or SetLimit say otherwise: a demo runs more clusters at once than a new account could.
// Secret keys of users are in the response that makes them and in the state file, and in no listing.
//
// Faults are set from Go or over the administration API (see Server and /_standin/), and are forgotten when the process ends:
// refusals, throttling, delays, reads that lag behind writes, small pages. Pins, protections, the caller's account and limits are part of the
// world, and stored with it.
package aws

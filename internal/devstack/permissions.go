package devstack

// Runners have a key of their own, which allows everything in the cloud except access to the bucket with the state of all clusters.
// For their part of the bucket they ask the server, which assumes the role below and restricts it.
const (
	RunnerKey    = "AKIADEMO00000RUNNER1"
	RunnerSecret = "demo/runner+secret/not-a-secret-0000001"
	RunnerUser   = "arn:aws:iam::" + Account + ":user/demo-runner"

	bucketRole = "ocpctl-runner-artifacts"

	runnerPolicy = `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"*","Resource":"*"},
		{"Effect":"Deny","Action":"s3:*","Resource":["arn:aws:s3:::` + Bucket + `","arn:aws:s3:::` + Bucket + `/*"]},
		{"Effect":"Deny","Action":"sts:AssumeRole","Resource":"*"}]}`
	bucketPolicy = `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::` + Bucket + `/*"}]}`
)

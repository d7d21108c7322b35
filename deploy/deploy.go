// Package deploy carries the files that an installation is made from, for the checks of ocpctl-server doctor. It must hold no secret.
package deploy

import _ "embed"

// GitHubApp is the manifest of the GitHub App, in YAML.
//
//go:embed github-app.yaml
var GitHubApp []byte

// SlackApp is the manifest of the Slack app, in YAML.
//
//go:embed slack-app.yaml
var SlackApp []byte

// BucketLifecycle are the lifecycle rules of the artifacts bucket, in the JSON of aws s3api.
//
//go:embed bucket-lifecycle.json
var BucketLifecycle []byte

// Hub is what a hub gives ocpctl: a service account with its rights, and the roles of people, in YAML.
//
//go:embed hub.yaml
var Hub []byte

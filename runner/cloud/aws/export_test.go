package aws

// NewOf lets a test give the count another configuration than the rest.
var NewOf = newClient

// Package ibmcloud is a small IBM Cloud for demos and tests: one HTTP server with the real wire protocols of IAM (tokens, identity,
// policies of both versions), Resource Controller with its reclamations, Resource Manager, VPC, Internet Services (CIS), DNS Services,
// Object Storage's S3 calls, Global Search and Global Tagging. Each service has a path of its own below the server's address:
//
//	/iam   /rc (Resource Controller and Resource Manager)   /vpc/{region}/v1   /cis   /dns/v1   /cos/{region}   /search   /tags
//
// IBM's SDKs use it when they get these addresses (URL, or Environment for other processes); product code must not be able to tell that
// it is not IBM Cloud, and must never import this package. It imports no SDK, and implements no data planes: an instance is a row that
// changes its state. It refuses unknown paths and unknown filters, and logs them.
//
// It keeps what hurts in the real cloud: short pages by default (VPC 50, Resource Controller 100, IAM 20, CIS 20) with IBM's own
// images on the first page of images; deletions that end later; resources that cannot be deleted while others use them; Object Storage
// that has to be reclaimed, and a resource group that cannot be deleted before; lists of resource groups and a search index that are
// late; tags that stay in the account after the last resource is gone; access policies that stay after their service ID is gone.
//
// Its quotas are generous unless Config.Limits or SetLimit say otherwise. Everybody with a valid key may do everything, except what
// Caller.Denied names; a caller with Caller.Groups sees these resource groups only, and lists say nothing about the rest. Everybody has an
// access policy of their own.
//
// Faults are set from Go or over the administration API (see Server and /_standin/), and are forgotten when the process ends. A call's
// name is its service and its operation, as IBM's API definitions name it: "vpc:delete_vpc", "rc:list_resource_instances".
package ibmcloud

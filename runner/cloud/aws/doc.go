// Package aws makes the AWS calls for one cluster: it finds what would prevent an install, measures the account's quotas, counts what
// is left, and makes the few deletions that openshift-install leaves to us.
//
// It must never report an unanswered query as an empty result, never count or delete what is not proven to be this cluster's, and
// delete only by exact name. Endpoints and credentials come from the SDK's default chain unless New is told otherwise.
//
// Sweep deletes the leak classes of openshift-install (a create killed between two calls, records without a twin, untaggable
// profiles) and what ccoctl created, each looked up by its name right before the deletion. Verify is implemented by another package
// (count), which shares no code with this one: what a query here cannot see, the count still names. Some small queries are therefore
// written twice, and neither side may use the other's. One file per service or concern.
//
// Besides what openshift-install needs, the runner needs these permissions:
//
//	servicequotas:GetServiceQuota, servicequotas:GetAWSDefaultServiceQuota
//	tag:GetResources (in the region and us-east-1)
//	ec2:Describe{CarrierGateways,DhcpOptions,EgressOnlyInternetGateways,InstanceTypes,LaunchTemplates,PlacementGroups,VpcPeeringConnections}
//	iam:ListRoles, iam:ListInstanceProfiles, iam:ListUsers, iam:ListOpenIDConnectProviders, iam:Get{Role,User,InstanceProfile,OpenIDConnectProvider}
//	iam:DeleteOpenIDConnectProvider, iam:DetachRolePolicy
//	s3:ListAllMyBuckets, s3:ListBucket, s3:ListBucketVersions, s3:GetBucketTagging, s3:DeleteObjectVersion, s3:DeleteBucket
//
// A missing permission makes a quota Unknown, a preflight query a warning, and a verification never clean.
package aws

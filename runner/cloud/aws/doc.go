// Package aws asks AWS about one cluster: what stands in the way of it, what room the account has for it, what is left of
// it, and it makes the few deletions openshift-install leaves to us.
//
// It must never report an unanswered question as an empty answer, never count or delete what is not proven this
// cluster's, and never delete anything but by exact name. Addresses and credentials come from the SDK's default chain
// unless New is told otherwise.
//
// Sweep deletes the leak classes of openshift-install (a create killed between two calls, records without a twin,
// untaggable profiles) and what ccoctl made, each looked up by its name right before it goes. Verify is another package's
// work (count), which shares no line with this one: what a look-up here cannot see, the count still names. That some
// small look-ups are written twice is the price, and neither side may borrow the other's. One file per service or concern.
//
// Beside what openshift-install needs, the runner must be allowed:
//
//	servicequotas:GetServiceQuota, servicequotas:GetAWSDefaultServiceQuota
//	tag:GetResources (in the region and us-east-1)
//	ec2:Describe{CarrierGateways,DhcpOptions,EgressOnlyInternetGateways,InstanceTypes,LaunchTemplates,PlacementGroups,VpcPeeringConnections}
//	iam:ListRoles, iam:ListInstanceProfiles, iam:ListUsers, iam:ListOpenIDConnectProviders, iam:Get{Role,User,InstanceProfile,OpenIDConnectProvider}
//	iam:DeleteOpenIDConnectProvider, iam:DetachRolePolicy
//	s3:ListAllMyBuckets, s3:ListBucket, s3:ListBucketVersions, s3:GetBucketTagging, s3:DeleteObjectVersion, s3:DeleteBucket
//
// A permission that is missing makes a quota Unknown, a preflight question a warning, and a verification never clean.
package aws

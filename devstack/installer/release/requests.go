package release

import (
	"fmt"
	"strings"
)

// Request is a CredentialsRequest: the cloud permissions that an operator needs, and the Secret in which it expects its credentials.
type Request struct {
	Name, Namespace, Secret string // name of the request; namespace and name of the Secret
	Cloud                   string // "AWS", "IBMCloud", "GCP", "Azure"
	ServiceAccounts         []string
	Actions                 []string // of IBM Cloud: a service and its roles
}

// File is the name of the Secret's manifest that ccoctl writes.
func (r Request) File() string { return r.Namespace + "-" + r.Secret + "-credentials.yaml" }

// Requests returns a release's requests, for every cloud.
func Requests() []Request {
	return append(append(AWSRequests(), IBMRequests()...),
		Request{"cloud-credential-operator-gcp-ro-creds", "openshift-cloud-credential-operator", "cloud-credential-operator-gcp-ro-creds", "GCP", []string{"cloud-credential-operator"}, []string{"iam.roles.get"}},
		Request{"openshift-machine-api-azure", "openshift-machine-api", "azure-cloud-credentials", "Azure", []string{"machine-api-controllers"}, []string{"Microsoft.Compute/virtualMachines/read"}},
	)
}

// AWSRequests returns the requests of the operators that run on AWS, with the actions that OpenShift 4.20 publishes, on every resource
// (docs.redhat.com, Authentication and authorization, "AWS component secret permissions requirements").
func AWSRequests() []Request {
	return []Request{
		{"cloud-credential-operator-iam-ro", "openshift-cloud-credential-operator", "cloud-credential-operator-iam-ro-creds", "AWS",
			[]string{"cloud-credential-operator"}, []string{"iam:GetUser", "iam:GetUserPolicy", "iam:ListAccessKeys"}},
		{"openshift-cluster-api-aws", "openshift-cluster-api", "capa-manager-bootstrap-credentials", "AWS",
			[]string{"capa-controller-manager"}, machineActions},
		{"openshift-cloud-network-config-controller-aws", "openshift-cloud-network-config-controller", "cloud-credentials", "AWS",
			[]string{"cloud-network-config-controller"}, []string{"ec2:AssignIpv6Addresses", "ec2:AssignPrivateIpAddresses", "ec2:DescribeInstanceStatus", "ec2:DescribeInstanceTypes",
				"ec2:DescribeInstances", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignIpv6Addresses", "ec2:UnassignPrivateIpAddresses"}},
		{"aws-ebs-csi-driver-operator", "openshift-cluster-csi-drivers", "ebs-cloud-credentials", "AWS",
			[]string{"aws-ebs-csi-driver-operator", "aws-ebs-csi-driver-controller-sa"}, []string{"ec2:AttachVolume", "ec2:CreateSnapshot", "ec2:CreateTags", "ec2:CreateVolume",
				"ec2:DeleteSnapshot", "ec2:DeleteTags", "ec2:DeleteVolume", "ec2:DescribeAvailabilityZones", "ec2:DescribeInstances", "ec2:DescribeSnapshots", "ec2:DescribeTags",
				"ec2:DescribeVolumes", "ec2:DescribeVolumesModifications", "ec2:DetachVolume", "ec2:EnableFastSnapshotRestores", "ec2:ModifyVolume",
				"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlainText", "kms:ListGrants", "kms:ReEncrypt*", "kms:RevokeGrant"}},
		{"openshift-image-registry", "openshift-image-registry", "installer-cloud-credentials", "AWS",
			[]string{"cluster-image-registry-operator", "registry"}, []string{"s3:AbortMultipartUpload", "s3:CreateBucket", "s3:DeleteBucket", "s3:DeleteObject", "s3:GetBucketLocation",
				"s3:GetBucketPublicAccessBlock", "s3:GetBucketTagging", "s3:GetEncryptionConfiguration", "s3:GetLifecycleConfiguration", "s3:GetObject", "s3:ListBucket",
				"s3:ListBucketMultipartUploads", "s3:ListMultipartUploadParts", "s3:PutBucketPublicAccessBlock", "s3:PutBucketTagging", "s3:PutEncryptionConfiguration",
				"s3:PutLifecycleConfiguration", "s3:PutObject"}},
		{"openshift-ingress", "openshift-ingress-operator", "cloud-credentials", "AWS",
			[]string{"ingress-operator"}, []string{"elasticloadbalancing:DescribeLoadBalancers", "route53:ChangeResourceRecordSets", "route53:ListHostedZones", "route53:ListTagsForResources",
				"sts:AssumeRole", "tag:GetResources"}},
		{"openshift-machine-api-aws", "openshift-machine-api", "aws-cloud-credentials", "AWS",
			[]string{"machine-api-controllers"}, machineActions},
	}
}

// machineActions are those of the machine API, and of the cluster API, which is to replace it.
var machineActions = []string{
	"ec2:CreateTags", "ec2:DescribeAvailabilityZones", "ec2:DescribeDhcpOptions", "ec2:DescribeImages", "ec2:DescribeInstanceTypes", "ec2:DescribeInstances",
	"ec2:DescribeInternetGateways", "ec2:DescribeRegions", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs", "ec2:RunInstances", "ec2:TerminateInstances",
	"elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:DescribeLoadBalancers", "elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeTargetHealth",
	"elasticloadbalancing:RegisterInstancesWithLoadBalancer", "elasticloadbalancing:RegisterTargets", "iam:CreateServiceLinkedRole", "iam:PassRole",
	"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlainText", "kms:ListGrants", "kms:RevokeGrant",
}

// IBMRequests returns the requests of the operators that run on IBM Cloud.
func IBMRequests() []Request {
	const viewer, editor, operator = "crn:v1:bluemix:public:iam::::role:Viewer", "crn:v1:bluemix:public:iam::::role:Editor", "crn:v1:bluemix:public:iam::::role:Operator"
	const manager, writer = "crn:v1:bluemix:public:iam::::serviceRole:Manager", "crn:v1:bluemix:public:iam::::serviceRole:Writer"
	grant := func(service string, roles ...string) string { return service + " " + strings.Join(roles, " ") }
	return []Request{
		{"openshift-cloud-controller-manager-ibm", "openshift-cloud-controller-manager", "ibm-cloud-credentials", "IBMCloud",
			[]string{"cloud-controller-manager"}, []string{grant("is", viewer, operator, editor), grant(resourceGroups, viewer)}},
		{"ibm-vpc-block-csi-driver-operator", "openshift-cluster-csi-drivers", "ibm-cloud-credentials", "IBMCloud",
			[]string{"ibm-vpc-block-csi-driver-operator"}, []string{grant("is", viewer, operator, editor), grant(resourceGroups, viewer)}},
		{"openshift-image-registry-ibmcos", "openshift-image-registry", "installer-cloud-credentials", "IBMCloud",
			[]string{"cluster-image-registry-operator"}, []string{grant("cloud-object-storage", viewer, editor, manager, writer), grant(resourceGroups, viewer)}},
		{"openshift-ingress-ibmcloud", "openshift-ingress-operator", "cloud-credentials", "IBMCloud",
			[]string{"ingress-operator"}, []string{grant("internet-svcs", operator, manager), grant("dns-svcs", operator, manager)}},
		{"openshift-machine-api-ibmcloud", "openshift-machine-api", "ibmcloud-credentials", "IBMCloud",
			[]string{"machine-api-controllers"}, []string{grant("is", viewer, operator, editor), grant(resourceGroups, viewer)}},
	}
}

// resourceGroups stands for the resource groups themselves, which are no service.
const resourceGroups = "resource-group"

// policies is a request for IBM Cloud: access policies instead of statements.
func (r Request) policies() string {
	var b strings.Builder
	for _, grant := range r.Actions {
		fields := strings.Fields(grant)
		b.WriteString("    - attributes:\n")
		attribute := "serviceName"
		if fields[0] == resourceGroups {
			attribute = "resourceType"
		}
		fmt.Fprintf(&b, "      - name: %s\n        value: %s\n      roles:\n", attribute, fields[0])
		for _, role := range fields[1:] {
			fmt.Fprintf(&b, "      - %s\n", role)
		}
	}
	return "    policies:\n" + b.String()
}

// YAML returns the request as in the release image.
func (r Request) YAML() string {
	list := func(items []string, indent string) string {
		var b strings.Builder
		for _, item := range items {
			fmt.Fprintf(&b, "%s- %s\n", indent, item)
		}
		return b.String()
	}
	grants, accounts := r.policies(), ""
	if r.Cloud != "IBMCloud" {
		grants = "    statementEntries:\n    - effect: Allow\n      action:\n" + list(r.Actions, "      ") + "      resource: '*'\n"
		accounts = "  serviceAccountNames:\n" + list(r.ServiceAccounts, "  ")
	}
	return fmt.Sprintf(`---
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata:
  name: %s
  namespace: openshift-cloud-credential-operator
spec:
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: %sProviderSpec
%s  secretRef:
    name: %s
    namespace: %s
%s`, r.Name, r.Cloud, grants, r.Secret, r.Namespace, accounts)
}

// Package ibmcloud makes the calls of IBM Cloud for one cluster: it finds what would prevent an install, makes the cluster's resource group,
// measures usage, stops and starts machines, gives tags, and deletes what openshift-install and ccoctl leave behind.
//
// It must never report an unanswered query as an empty result, never delete what is not proven to be this cluster's, and never call
// DeleteTagAll. A resource is this cluster's if it is in the resource group that was recorded before it was made (names.Scope.CCOName), or if
// it has exactly a name that the installer or an operator derives from a recorded infraID. Tags prove nothing here: they are attached late.
// A tag of another cluster does forbid a deletion.
//
// Verify is implemented by another package (count), which shares no code with this one.
//
// # Credentials
//
// An API key, or else the trusted profile of the runner's pod: IBMCLOUD_TRUSTED_PROFILE_ID is the profile's id, and
// IBMCLOUD_CR_TOKEN_FILENAME the file with the pod's token, if it is in none of the places where IBM's SDK looks. A trusted profile is enough
// for these calls; openshift-install and ccoctl accept only an API key.
//
// # Service addresses
//
// IBM's own, unless a variable names another one: IBMCLOUD_IAM_API_ENDPOINT, IBMCLOUD_RESOURCE_CONTROLLER_API_ENDPOINT,
// IBMCLOUD_RESOURCE_MANAGEMENT_API_ENDPOINT, IBMCLOUD_IS_NG_API_ENDPOINT (with /v1; {region} in it is replaced), IBMCLOUD_CIS_API_ENDPOINT, IBMCLOUD_PRIVATE_DNS_API_ENDPOINT (with /v1), IBMCLOUD_GS_API_ENDPOINT and IBMCLOUD_GT_API_ENDPOINT.
package ibmcloud

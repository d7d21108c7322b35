// Package access says with which credentials IBM Cloud is called, and where: as the runner's environment has it. It makes no call.
package access

import (
	"fmt"
	"net/http"

	"github.com/IBM/go-sdk-core/v5/core"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// URLs are the addresses of IBM Cloud's services. An empty one is IBM's own.
type URLs struct {
	IAM                string // tokens, identities and policies
	ResourceController string
	ResourceManager    string
	VPC                string // with {region} where the region's name belongs, and with /v1
	CIS                string
	DNSServices        string // with /v1
	GlobalSearch       string
	GlobalTagging      string
}

// Addresses reads the addresses from the variables that openshift-install's documents use for them; env is os.Getenv.
func Addresses(env func(string) string) URLs {
	return URLs{
		IAM:                env("IBMCLOUD_IAM_API_ENDPOINT"),
		ResourceController: env("IBMCLOUD_RESOURCE_CONTROLLER_API_ENDPOINT"),
		ResourceManager:    env("IBMCLOUD_RESOURCE_MANAGEMENT_API_ENDPOINT"),
		VPC:                env("IBMCLOUD_IS_NG_API_ENDPOINT"),
		CIS:                env("IBMCLOUD_CIS_API_ENDPOINT"),
		DNSServices:        env("IBMCLOUD_PRIVATE_DNS_API_ENDPOINT"),
		GlobalSearch:       env("IBMCLOUD_GS_API_ENDPOINT"),
		GlobalTagging:      env("IBMCLOUD_GT_API_ENDPOINT"),
	}
}

// The variables of a trusted profile, whose tokens IAM gives for the pod's own.
const (
	ProfileVariable   = "IBMCLOUD_TRUSTED_PROFILE_ID"
	tokenFileVariable = "IBMCLOUD_CR_TOKEN_FILENAME" // path of the pod's token; empty: where IBM Cloud mounts it
)

// Authenticator is what calls are authenticated with. All services of a client share one, so that they share a token.
type Authenticator interface {
	core.Authenticator
	GetToken() (string, error)
}

// Authenticate returns the authenticator for an API key or, without one, for the trusted profile of the pod. web makes its calls; nil: the
// SDK's own.
func Authenticate(keys cloud.Keys, env func(string) string, web *http.Client) (Authenticator, error) {
	at := Addresses(env).IAM
	switch profile := env(ProfileVariable); {
	case !keys.Empty():
		return &core.IamAuthenticator{ApiKey: keys.Secret.Reveal(), URL: at, Client: web}, nil
	case profile != "":
		return &core.ContainerAuthenticator{IAMProfileID: profile, CRTokenFilename: env(tokenFileVariable), URL: at, Client: web}, nil
	}
	return nil, fmt.Errorf("%w: there is no API key, and %s names no trusted profile", cloud.ErrCredentials, ProfileVariable)
}

//go:build installer

package real_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// ccoName is the name with which ccoctl runs.
const ccoName = "shop-0123456789"

// failuresOfCcoctl are runs of ccoctl that end by themselves.
func failuresOfCcoctl() []failing {
	return []failing{
		{name: "ccoctl: a key that AWS does not know", cco: true, spoil: setenv("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN000000000")},
		{name: "ccoctl: no right to create buckets", cco: true, spoil: refuseS3(http.StatusForbidden, "AccessDenied", "Access Denied")},
		{name: "ccoctl: the bucket's name is taken", cco: true, spoil: refuseS3(http.StatusConflict, "BucketAlreadyExists",
			"The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.")},
		{name: "ccoctl: S3 throttles", cco: true, spoil: refuseS3(http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")},
		{name: "ccoctl: no right to open a bucket", cco: true, spoil: refuse("s3:PutBucketPublicAccessBlock", aws.Denied)},
		{name: "ccoctl: no right to list identity providers", cco: true, spoil: refuse("iam:ListOpenIDConnectProviders", aws.Denied)},
		{name: "ccoctl: no right to create an identity provider", cco: true, spoil: refuse("iam:CreateOpenIDConnectProvider", aws.Denied)},
		{name: "ccoctl: no right to create roles", cco: true, spoil: refuse("iam:CreateRole", aws.Denied)},
		{name: "ccoctl: roles denied by the organization", cco: true, spoil: refuse("iam:CreateRole", aws.DeniedBySCP)},
		{name: "ccoctl: roles denied by a boundary", cco: true, spoil: refuse("iam:CreateRole", aws.DeniedByBoundary)},
		{name: "ccoctl: IAM throttles", cco: true, spoil: throttle("iam:CreateRole")},
		{name: "ccoctl: expired keys", cco: true, spoil: refuse("*", aws.Expired)},
		{name: "ccoctl: too few roles", cco: true, spoil: limit("L-FE177D64")},
		{name: "ccoctl: too few identity providers", cco: true, spoil: limit("L-858F3967")},

		{name: "ccoctl: an API key that IBM Cloud does not know", cco: true, ibm: true, spoil: setenv("IC_API_KEY", "another-key")},
		{name: "ccoctl: everything denied on IBM Cloud", cco: true, ibm: true, spoil: refuse("*", ibmcloud.Denied)},
		{name: "ccoctl: no right to create service IDs", cco: true, ibm: true, spoil: refuse("iam:create_service_id", ibmcloud.Denied)},
		{name: "ccoctl: no right to create policies", cco: true, ibm: true, spoil: refuse("iam:create_policy", ibmcloud.Denied)},
		{name: "ccoctl: no right to create API keys", cco: true, ibm: true, spoil: refuse("iam:create_api_key", ibmcloud.Denied)},
		{name: "ccoctl: an expired token of IBM Cloud", cco: true, ibm: true, spoil: refuse("*", ibmcloud.Expired)},
		{name: "ccoctl: IBM Cloud throttles", cco: true, ibm: true, spoil: throttle("*")},
		{name: "ccoctl: IBM Cloud is unavailable", cco: true, ibm: true, spoil: refuse("*", ibmcloud.Broken)},
		{name: "ccoctl: service IDs of the name exist", cco: true, ibm: true, spoil: func(w *world) {
			config := installertest.IBMConfig("shop", "", 0)
			w.must(installer.RealVersion, "ccoctl", "ibmcloud", "create-service-id", "--name", ccoName, "--credentials-requests-dir", w.requests(installer.RealVersion, config), "--output-dir", w.t.TempDir())
		}},
	}
}

// refuseS3 makes S3 answer every call with an error.
func refuseS3(status int, code, text string) func(*world) {
	return func(w *world) {
		w.s3.Store(func(rw http.ResponseWriter) {
			rw.Header().Set("Content-Type", "application/xml")
			rw.WriteHeader(status)
			fmt.Fprintf(rw, "<Error><Code>%s</Code><Message>%s</Message><RequestId>1</RequestId></Error>", code, text)
		})
	}
}

// silence is how long a run that hangs is watched.
const silence = 30 * time.Second

// hanging are runs in which AWS's SDK repeats a refused call 25 times, with up to five minutes between two tries. The product's own deadline
// ends them.
func hanging() []failing {
	return []failing{
		{name: "expired keys", hangs: true, spoil: refuse("*", aws.Expired)},
		{name: "AWS throttles", hangs: true, spoil: throttle("*")},
		{name: "AWS fails", hangs: true, spoil: refuse("*", "InternalError")},
		{name: "a proxy that is down", hangs: true, spoil: setenv("HTTPS_PROXY", "http://127.0.0.1:1")},
		{name: "a certificate that is not trusted", hangs: true, spoil: func(w *world) { setenv("AWS_CA_BUNDLE", "")(w); setenv("SSL_CERT_FILE", "")(w) }},
	}
}

// hang runs all that hang at once: they only wait.
func hang(t *testing.T) []ending {
	t.Helper()
	got := make([]ending, len(hanging()))
	var all sync.WaitGroup
	for i, f := range hanging() {
		w, config := f.start(t)
		run := w.begin(f, config, true)
		f.spoil(w)
		all.Go(func() { got[i] = run.end(silence) })
	}
	all.Wait()
	return got
}

package dispatch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARunnerSeesItsWayOutAndNothingOfTheServers(t *testing.T) {
	kept := []string{
		"PATH=/bin", "HOME=/home/me", "TMPDIR=/tmp", "SSL_CERT_FILE=/etc/ca.pem", "SSL_CERT_DIR=/etc/ca",
		"HTTPS_PROXY=http://proxy:3128", "HTTP_PROXY=http://proxy:3128", "NO_PROXY=169.254.169.254",
		"https_proxy=http://proxy:3128", "http_proxy=http://proxy:3128", "no_proxy=169.254.169.254",
		"AWS_REGION=us-east-1", "IBMCLOUD_IAM_API_ENDPOINT=http://x", "IBMCLOUD_CR_TOKEN_FILENAME=/token", "OCPCTL_STANDIN_DIR=/tmp", "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318", "OTEL_TRACES_SAMPLER=always_on",
	}
	own := []string{"IBMCLOUD_APIKEY=x", "IBMCLOUD_API_KEY=x", "IBMCLOUD_IAM_APIKEY=x", "IBMCLOUD_BEARER_TOKEN=x", "IC_API_KEY=x",
		"DATABASE_URL=postgres://x", "OCPCTL_GITHUB_KEY=x", "ALL_PROXY=socks5://x", "PATHS=x", "OTEL_SERVICE_NAME=ocpctl-server"}
	require.Equal(t, kept, Allowed(append(own, kept...)))
}

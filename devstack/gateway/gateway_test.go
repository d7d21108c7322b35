package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/gateway"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
)

// through returns a client that trusts the gateway alone and sends everything through it.
func through(t *testing.T, g *gateway.Server) *http.Client {
	t.Helper()
	raw, err := os.ReadFile(g.CAFile())
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(raw))
	proxy, err := url.Parse(g.URL())
	require.NoError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func startGateway(t *testing.T, cfg gateway.Config) *gateway.Server {
	t.Helper()
	cfg.Dir = t.TempDir()
	g, err := gateway.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Stop()) })
	return g
}

// configureSDK returns a configuration that finds the gateway's certificate as any program does.
func configureSDK(t *testing.T, g *gateway.Server, region, key, secret string) sdk.Config {
	t.Helper()
	t.Setenv("AWS_CA_BUNDLE", g.CAFile())
	proxy, err := url.Parse(g.URL())
	require.NoError(t, err)
	client := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) { tr.Proxy = http.ProxyURL(proxy) })
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion(region), config.WithHTTPClient(client),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, secret, "")))
	require.NoError(t, err)
	return cfg
}

// Signatures cover the host's name, and the stand-ins check them.
func TestTheSDKReachesAWSByItsRealNames(t *testing.T) {
	cloud, err := aws.Start(t.Context(), aws.Config{AccessKey: "AKIDADMIN", SecretKey: "secret"})
	require.NoError(t, err)
	defer cloud.Stop()
	g := startGateway(t, gateway.Config{AWS: cloud.URL(), S3: s3test.Shared(t).URL()})
	who, err := sts.NewFromConfig(configureSDK(t, g, "us-east-2", "AKIDADMIN", "secret")).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	require.NoError(t, err)
	require.Equal(t, "123456789012", *who.Account)

	bucket := s3test.Bucket(t)
	for _, byPath := range []bool{false, true} {
		objects := awss3.NewFromConfig(configureSDK(t, g, "us-east-1", s3test.AccessKey, s3test.SecretKey), func(o *awss3.Options) { o.UsePathStyle = byPath })
		_, err = objects.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: sdk.String("a folder/bootstrap.ign"), Body: strings.NewReader("{}")})
		require.NoError(t, err)
		list, err := objects.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: &bucket})
		require.NoError(t, err)
		require.Len(t, list.Contents, 1)
		require.Equal(t, "a folder/bootstrap.ign", *list.Contents[0].Key)
	}
}

func TestIBMCloudIsReachedByItsRealNames(t *testing.T) {
	cloud, err := ibmcloud.Start(t.Context(), ibmcloud.Config{Callers: []ibmcloud.Caller{{APIKey: "the-api-key"}}})
	require.NoError(t, err)
	defer cloud.Stop()
	client := through(t, startGateway(t, gateway.Config{IBMCloud: cloud.Base()}))
	for host, path := range map[string]string{
		"iam.cloud.ibm.com":                                "/v1/apikeys/details",
		"resource-controller.cloud.ibm.com":                "/v2/resource_instances",
		"us-south.iaas.cloud.ibm.com":                      "/v1/vpcs?version=2024-01-01&generation=2",
		"api.cis.cloud.ibm.com":                            "/v1/crn%3Av1%3Anone/zones",
		"api.dns-svcs.cloud.ibm.com":                       "/v1/instances/none/dnszones",
		"s3.us-south.cloud-object-storage.appdomain.cloud": "/",
	} {
		resp, err := client.Get("https://" + host + path)
		require.NoError(t, err, host)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.NotContains(t, string(body), "is not part of this stand-in", host)
		require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusBadRequest}, resp.StatusCode, "%s: %s", host, body)
	}
}

func TestABucketInFrontOfAHostOfObjectStorageComesIntoThePath(t *testing.T) {
	paths := make(chan string, 1)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.EscapedPath() }))
	defer target.Close()
	client := through(t, startGateway(t, gateway.Config{IBMCloud: target.URL}))
	for asked, want := range map[string]string{
		"b.s3.us-south.cloud-object-storage.appdomain.cloud/":                "/cos/us-south/b",
		"b.s3.direct.eu-de.cloud-object-storage.appdomain.cloud/a%2Fkey?acl": "/cos/eu-de/b/a%2Fkey",
		"s3.eu-de.cloud-object-storage.appdomain.cloud/b/key":                "/cos/eu-de/b/key",
	} {
		resp, err := client.Get("https://" + asked)
		require.NoError(t, err, asked)
		resp.Body.Close()
		require.Equal(t, want, <-paths, asked)
	}
}

// A cluster's API ends TLS itself, with a certificate of the cluster.
func TestATunnelLeadsToWhatSpeaksForItself(t *testing.T) {
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer api.Close()
	var away error
	g := startGateway(t, gateway.Config{Tunnel: func(hostPort string) (string, bool, error) {
		return api.Listener.Addr().String(), hostPort == "example.com:6443", away
	}})
	proxy, err := url.Parse(g.URL())
	require.NoError(t, err)
	client := api.Client() // which trusts the API's certificate, for example.com, and not the gateway's
	client.Transport.(*http.Transport).Proxy = http.ProxyURL(proxy)
	resp, err := client.Get("https://example.com:6443/readyz")
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, "ok", string(body))

	_, err = client.Get("https://example.com:6444/readyz")
	require.ErrorContains(t, err, "Forbidden")
	client.CloseIdleConnections()
	away = errors.New("the machine does not run yet")
	_, err = client.Get("https://example.com:6443/readyz")
	require.ErrorContains(t, err, "Bad Gateway")
}

func TestAnyOtherHostIsRefusedByItsName(t *testing.T) {
	g := startGateway(t, gateway.Config{AWS: "http://127.0.0.1:1"})
	client := through(t, g)
	for _, host := range []string{"github.com", "amazonaws.com.example.com", "iam.cloud.ibm.com", "s3.us-east-1.amazonaws.com", "sts.amazonaws.com:8443"} {
		_, err := client.Get("https://" + host + "/")
		require.ErrorContains(t, err, "Forbidden", host)
	}
	resp, err := http.Get(g.URL())
	require.NoError(t, err)
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
	require.Contains(t, string(body), "CONNECT")
}

// A real program is behind a gateway of its own, which tells its writes and goes on through the stack's.
func TestAGatewayBeforeAnotherTellsWrites(t *testing.T) {
	cloud, err := aws.Start(t.Context(), aws.Config{AccessKey: "AKIDADMIN", SecretKey: "secret"})
	require.NoError(t, err)
	defer cloud.Stop()
	last := startGateway(t, gateway.Config{AWS: cloud.URL(), S3: s3test.Shared(t).URL()})
	t.Setenv("HTTPS_PROXY", last.URL())
	t.Setenv("SSL_CERT_FILE", last.CAFile())
	next, err := gateway.NextFromEnvironment()
	require.NoError(t, err)
	var wrote []string
	first := startGateway(t, gateway.Config{Next: next, Wrote: func(service, action string) { wrote = append(wrote, service+":"+action) }})

	networks := ec2.NewFromConfig(configureSDK(t, first, "us-east-2", "AKIDADMIN", "secret"))
	_, err = networks.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	require.NoError(t, err)
	_, err = networks.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: sdk.String("10.0.0.0/16")})
	require.NoError(t, err)
	_, err = networks.DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: sdk.String("vpc-0")})
	require.Error(t, err)
	bucket := s3test.Bucket(t)
	objects := awss3.NewFromConfig(configureSDK(t, first, "us-east-1", s3test.AccessKey, s3test.SecretKey))
	_, err = objects.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: sdk.String("bootstrap.ign"), Body: strings.NewReader("{}")})
	require.NoError(t, err)
	require.Equal(t, []string{"ec2:CreateVpc", "s3:PUT-object"}, wrote, "what succeeded, and no questions")
	resp, err := through(t, first).Get("https://github.com/")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusBadGateway, resp.StatusCode, "the last gateway refuses a host that no stand-in plays")
}

func TestAnAnswerIsPassedOnBeforeItsRequestHasEnded(t *testing.T) {
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := http.NewResponseController(w)
		_ = answer.EnableFullDuplex()
		_, _ = io.WriteString(w, "denied")
		_ = answer.Flush()
	}))
	defer cloud.Close()
	body, rest := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://ec2.us-east-2.amazonaws.com/", body)
	require.NoError(t, err)
	resp, err := through(t, startGateway(t, gateway.Config{AWS: cloud.URL})).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	said := make([]byte, len("denied"))
	_, err = io.ReadFull(resp.Body, said)
	require.NoError(t, err)
	require.Equal(t, "denied", string(said))
	require.NoError(t, rest.Close())
}

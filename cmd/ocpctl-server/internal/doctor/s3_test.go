package doctor

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
)

const (
	guarded = `<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>` +
		`<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>`
	halfGuarded = `<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>` +
		`</PublicAccessBlockConfiguration>`
	encrypted = `<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm>` +
		`<KMSMasterKeyID>alias/ocpctl</KMSMasterKeyID></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>`
	ruled = `<LifecycleConfiguration>` +
		`<Rule><ID>a</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>` +
		`<Rule><ID>b</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><NoncurrentVersionExpiration><NoncurrentDays>14</NoncurrentDays></NoncurrentVersionExpiration></Rule>` +
		`<Rule><ID>c</ID><Status>Enabled</Status><Filter><Prefix>spool/</Prefix></Filter><Expiration><Days>90</Days></Expiration></Rule></LifecycleConfiguration>`
	dangerous = `<LifecycleConfiguration><Rule><ID>tidy</ID><Status>Enabled</Status><Filter><Prefix>clusters/</Prefix></Filter>` +
		`<Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>`
	asleep = `<LifecycleConfiguration><Rule><ID>tidy</ID><Status>Disabled</Status><Filter><Prefix>clusters/</Prefix></Filter>` +
		`<Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>`
)

func refusal(code string) string {
	return "<Error><Code>" + code + "</Code><Message>no</Message></Error>"
}

// answering returns a bucket whose settings are these documents.
func answering(t *testing.T, status int, document string) bucket {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(document))
	}))
	t.Cleanup(server.Close)
	return bucket{"state", s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("AKIA", "secret", ""),
	})}
}

func TestTheSettingsOfABucketAreJudged(t *testing.T) {
	for name, c := range map[string]struct {
		check    string
		status   int
		document string
		want     Status
		found    string
	}{
		"blocked":              {"public-access", 200, guarded, OK, "blocked"},
		"half blocked":         {"public-access", 200, halfGuarded, Fail, "BlockPublicPolicy and RestrictPublicBuckets off"},
		"not blocked":          {"public-access", 404, refusal("NoSuchPublicAccessBlockConfiguration"), Fail, "not blocked"},
		"no right to look":     {"public-access", 403, refusal("AccessDenied"), Skipped, "lacks s3:GetBucketPublicAccessBlock"},
		"no such setting":      {"public-access", 501, refusal("NotImplemented"), Skipped, "no such setting"},
		"encrypted":            {"encryption", 200, encrypted, OK, "with the key alias/ocpctl"},
		"not encrypted":        {"encryption", 404, refusal("ServerSideEncryptionConfigurationNotFoundError"), Fail, "encrypts nothing"},
		"ruled":                {"lifecycle", 200, ruled, OK, "in force"},
		"no rules":             {"lifecycle", 404, refusal("NoSuchLifecycleConfiguration"), Warn, "no lifecycle rules"},
		"a rule on states":     {"lifecycle", 200, dangerous, Fail, `the rule "tidy" deletes current objects below "clusters/"`},
		"only a disabled rule": {"lifecycle", 200, asleep, Warn, `no rule removes unfinished uploads below "", old versions below "" and current objects below "spool/"`},
		"versions kept":        {"versioning", 200, `<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>`, OK, "on"},
		"no versions":          {"versioning", 200, `<VersioningConfiguration/>`, Fail, "versioning is off"},
		"versions suspended":   {"versioning", 200, `<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>`, Fail, "versioning is off"},
	} {
		t.Run(name, func(t *testing.T) {
			b := answering(t, c.status, c.document)
			f := &findings{area: "s3"}
			switch c.check {
			case "public-access":
				b.publicAccess(t.Context(), f)
			case "encryption":
				b.checkEncryption(t.Context(), f)
			case "lifecycle":
				b.checkLifecycle(t.Context(), f)
			case "versioning":
				b.checkVersioning(t.Context(), f)
			}
			require.Len(t, f.results, 1)
			require.Equal(t, "s3."+c.check, f.results[0].Check)
			require.Equal(t, c.want, f.results[0].Status, f.results[0].Found)
			require.Contains(t, f.results[0].Found, c.found)
			require.Equal(t, c.want == Fail || c.want == Warn, f.results[0].Next != "")
		})
	}
}

func TestAnS3WithoutConditionalWritesIsRefused(t *testing.T) {
	err := answering(t, 200, "").writeOnce(t.Context(), "doctor/x", "") // it accepts every write
	require.ErrorIs(t, err, errOverwritten)
}

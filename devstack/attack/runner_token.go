package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// tokenAttacks use a runner's token and credentials, whatever it reports.
func tokenAttacks() []attack {
	return []attack{
		{name: "runner/closed-spec", who: "runner, attempt closed", tried: "claim the closed attempt again and read its spec", short: true, play: closedSpec},
		{name: "runner/closed-renewal", who: "runner, attempt closed", tried: "have the closed attempt's token renewed, again and again", short: true, play: closedRenewal},
		{name: "runner/closed-report", who: "runner, attempt closed", tried: "report, record and close the closed attempt again", play: closedReport},
		{name: "runner/other-attempt", who: "runner", tried: "use the token on another attempt, and at the people's API and pages", play: otherAttempt},
		{name: "runner/spool", who: "runner", tried: "leave a document of 40 MB in the own spool and end, so that the teardown never begins", play: heavySpool},
		{name: "runner/bucket", who: "runner", tried: "read the victim's kubeconfig, overwrite its archive and forge its spool with every credential the runner has", short: true, play: runnersBucket},
		{name: "runner/report-access", who: "runner", tried: "report the victim's access as removed or as its own, and an own token that is valid for a century", play: reportAccess},
	}
}

// closed takes a runner over, lets it fail, and returns its token for the closed attempt.
func (t *target) closed(ctx context.Context, name string) (*taken, error) {
	k, id, err := t.capture(ctx, name, callRecordIdentity)
	if err != nil {
		return nil, err
	}
	return k, t.failAndEnd(ctx, k, id)
}

func closedSpec(ctx context.Context, t *target) (result, error) {
	k := must.Get(t.closed(ctx, "closed-spec"))
	got := must.Get(k.ask(ctx, http.MethodPost, k.path("claim"), k.claim))
	var reply contract.Claimed
	readable := json.Unmarshal(got.body, &reply) == nil
	throughIf(readable && reply.Spec.Cluster != "",
		"the claim was answered %d with the spec of %s: %d bytes, credentials at %q", got.status, reply.Spec.Name, len(got.body), reply.Spec.CloudCredentialsRef)
	return held("the claim was answered %d without a spec", got.status)
}

func closedRenewal(ctx context.Context, t *target) (result, error) {
	k := must.Get(t.closed(ctx, "closed-renewal"))
	renewed := 0
	for _, verb := range []string{"claim", "report", "claim", "report", "result", "record", "reserve"} {
		body := any(contract.Report{Seq: 900 + renewed, Phase: "installing"})
		switch verb {
		case "claim":
			body = k.claim
		case "result":
			body = contract.Result{Outcome: "failed"}
		case "record":
			body = json.RawMessage(k.body)
		case "reserve":
			body = contract.Demand{Account: k.claimed.Spec.Account, Region: k.claimed.Spec.Region}
		}
		got := must.Get(k.ask(ctx, http.MethodPost, k.path(verb), body))
		if token := tokenIn(got.body); token != "" {
			renewed++
			k.header = http.Header{"Authorization": {"Bearer " + token}}
		}
	}
	throughIf(renewed > 0, "%d of 7 calls after the end were answered with a new token", renewed)
	return held("7 calls after the end brought no new token")
}

// tokenIn returns the token in a response of the Status API; empty: there is none.
func tokenIn(body []byte) string {
	var got struct {
		Token  string
		Answer contract.Answer
	}
	_ = json.Unmarshal(body, &got) // an unreadable response has none
	return got.Token + got.Answer.Token
}

func closedReport(ctx context.Context, t *target) (result, error) {
	k := must.Get(t.closed(ctx, "closed-report"))
	before := must.Get(t.rowsOf(ctx, k.attempt))
	for verb, body := range map[string]any{
		"report": contract.Report{Seq: 901, Phase: "installing", Percent: 99, Log: "it goes on\n", ToolExit: &contract.ToolExit{}},
		"record": json.RawMessage(k.body), "result": contract.Result{Outcome: "succeeded"},
	} {
		must.Get(k.ask(ctx, http.MethodPost, k.path(verb), body))
	}
	after := must.Get(t.rowsOf(ctx, k.attempt))
	throughIf(before != after, "what is stored of the attempt changed from %s to %s", before, after)
	return held("nothing that is stored of the attempt changed: %s", after)
}

// rowsOf returns a digest of everything that is stored about an attempt; any change changes it.
func (t *target) rowsOf(ctx context.Context, attempt string) (text string, err error) {
	err = t.pool.QueryRow(ctx, `
		SELECT format('attempt %s, %s reports, %s logs, %s archives', md5(a::text),
		       (SELECT count(*) FROM reports WHERE attempt_id = a.id), (SELECT count(*) FROM log_chunks WHERE attempt_id = a.id),
		       (SELECT count(*) FROM artifacts WHERE attempt_id = a.id))
		  FROM attempts a WHERE a.id = $1`, attempt).Scan(&text)
	return text, err
}

func otherAttempt(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	k, id := must.Get2(t.capture(ctx, "other-attempt", callRecordIdentity))
	defer k.stop()
	var attempt string
	must.Do(t.pool.QueryRow(ctx, "SELECT id FROM attempts WHERE cluster_id = $1 ORDER BY number LIMIT 1", v.ID).Scan(&attempt))
	tried := 0
	for _, to := range []struct{ method, path string }{
		{http.MethodPost, "/api/v1/status/attempts/" + attempt + "/claim"}, {http.MethodPost, "/api/v1/status/attempts/" + attempt + "/report"},
		{http.MethodPost, "/api/v1/status/attempts/" + attempt + "/record"}, {http.MethodPost, "/api/v1/status/attempts/" + attempt + "/result"},
		{http.MethodPost, "/api/v1/status/attempts/" + k.attempt + "/../" + attempt + "/claim"}, {http.MethodPost, "/api/v1/status/attempts/" + k.attempt + "%2F..%2F" + attempt + "/claim"},
		{http.MethodGet, "/api/v1/clusters"}, {http.MethodGet, "/api/v1/clusters/" + v.ID + "/kubeconfig"}, {http.MethodGet, "/api/v1/me"},
		{http.MethodPost, "/api/v1/clusters/" + v.ID + "/destroy"}, {http.MethodGet, "/api/v1/audit"}, {http.MethodGet, "/clusters/" + v.ID},
	} {
		got := must.Get(k.ask(ctx, to.method, to.path, map[string]any{}))
		if tried++; got.status < 300 {
			return through("%s %s was answered %d", to.method, to.path, got.status)
		}
	}
	must.Do(t.endOf(ctx, id))
	return held("%d addresses, none of them answered", tried)
}

// runnersBucket tries to access the victim's objects with everything that a running runner has: the credentials in its environment
// and those from the server for the attempt's part of the bucket.
func runnersBucket(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	k, id := must.Get2(t.capture(ctx, "bucket", callRecordIdentity))
	defer k.stop()
	found := must.Get(t.reached(ctx, k, v))
	must.Do(t.endOf(ctx, id))
	throughIf(len(found) > 0, "the runner's credentials %s", strings.Join(found, ", "))
	return held("the granted credentials write the own spool; neither they nor those of the environment reach anything else")
}

// reached lists what a runner's credentials can do outside its own part of the bucket.
func (t *target) reached(ctx context.Context, k *taken, v prey) (_ []string, err error) {
	defer must.Catch(&err)
	env := must.Get(t.environmentOf(k.attempt))
	granted := must.Get(k.ask(ctx, http.MethodPost, k.path("bucket-credentials"), nil))
	var given contract.BucketCredentials
	if err := json.Unmarshal(granted.body, &given); err != nil || given.AccessKeyID == "" {
		return nil, fmt.Errorf("the runner got no credentials for its part of the bucket: %d %.200s", granted.status, granted.body)
	}
	client := func(key, secret, session string) *s3.Client {
		return s3.New(s3.Options{
			Region: "us-east-1", BaseEndpoint: awssdk.String(env["AWS_ENDPOINT_URL_S3"]), UsePathStyle: true,
			Credentials: credentials.NewStaticCredentialsProvider(key, secret, session),
		})
	}
	own := client(given.AccessKeyID, given.SecretAccessKey, given.SessionToken)
	name, probe := devstack.Bucket, "spool/"+k.attempt+"/probe.txt"
	_, err = own.PutObject(ctx, &s3.PutObjectInput{Bucket: &name, Key: &probe, Body: strings.NewReader("probe")})
	must.Wrap(err, "the granted credentials do not even write the attempt's own spool")
	found := must.Get(t.tamper(ctx, own, v))
	more, err := t.tamper(ctx, client(env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"]), v)
	return append(found, more...), err
}

// tamper reads, overwrites, forges and lists the victim's objects, and returns what succeeded.
func (t *target) tamper(ctx context.Context, bucket *s3.Client, v prey) (got []string, err error) {
	defer must.Catch(&err)
	name := devstack.Bucket
	_, kubeconfig, _ := strings.Cut(strings.TrimPrefix(v.KubeconfigRef, "s3://"), "/")
	var archive string
	must.Do(t.pool.QueryRow(ctx, "SELECT s3_key FROM artifacts WHERE cluster_id = $1 ORDER BY s3_key LIMIT 1", v.ID).Scan(&archive))
	whole := must.Get(t.object(ctx, archive))
	spool := "spool/" + "att_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT/000001-result.json"
	if _, err := bucket.GetObject(ctx, &s3.GetObjectInput{Bucket: &name, Key: &kubeconfig}); err == nil {
		got = append(got, "read the victim's kubeconfig")
	}
	if _, err := bucket.PutObject(ctx, &s3.PutObjectInput{Bucket: &name, Key: &archive, Body: strings.NewReader("hello")}); err == nil {
		got = append(got, "overwrote the victim's archive")
		must.Do(t.putObject(ctx, archive, whole))
	}
	if _, err := bucket.PutObject(ctx, &s3.PutObjectInput{Bucket: &name, Key: &spool, Body: strings.NewReader("{}")}); err == nil {
		got = append(got, "wrote a result into another attempt's spool")
	}
	if listed, err := bucket.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &name, Prefix: awssdk.String("operate/")}); err == nil && len(listed.Contents) > 0 {
		got = append(got, fmt.Sprintf("listed %d objects under operate/", len(listed.Contents)))
	}
	return got, nil
}

// environmentOf reads the environment of an attempt's runner.
func (t *target) environmentOf(attempt string) (_ map[string]string, err error) {
	defer must.Catch(&err)
	pid := must.Get(t.RunnerPID(attempt))
	raw := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)))
	env := map[string]string{}
	for pair := range strings.SplitSeq(string(raw), "\x00") {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env, nil
}

// heavySpool leaves documents in the bucket that are too large to read, and ends without a result.
func heavySpool(ctx context.Context, t *target) (result, error) {
	k, id := must.Get2(t.capture(ctx, t.unique("spool"), callRecordIdentity))
	defer k.stop()
	must.Do(t.putObject(ctx, "spool/"+k.attempt+"/000001-report.json", bytes.Repeat([]byte(" "), 40<<20)))
	pid := must.Get(t.RunnerPID(k.attempt))
	must.Do(syscall.Kill(pid, syscall.SIGKILL))
	must.Do(t.endOf(ctx, id))
	within, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	now, err := t.becomes(within, id, "released")
	if err == nil {
		return held("the document was passed over, and %s", now)
	}
	now = must.Get(t.state(ctx, id))
	return through("20 s after the runner's end %s", now)
}

// reportAccess reports about access to another cluster, and a token that would be valid for much longer than it may be.
func reportAccess(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	theirs, before := must.Get2(t.accessOf(ctx, v.ID))
	k, id := must.Get2(t.capture(ctx, t.unique("rep-access"), callCreated))
	own, _ := must.Get2(t.accessOf(ctx, id))
	now := time.Now().UTC().Truncate(time.Second)
	taken := 0
	for i, said := range []contract.AccessState{
		{ID: theirs, Removed: true},
		{ID: theirs, StoredAt: now, ExpiresAt: now.Add(time.Hour)},
		{ID: theirs, Trouble: "it could not be made"},
		{ID: own, StoredAt: now.Add(time.Second), ExpiresAt: now.AddDate(100, 0, 0)},
	} {
		got := must.Get(k.ask(ctx, http.MethodPost, k.path("report"), contract.Report{Seq: 800 + i, Phase: "configuring", Access: []contract.AccessState{said}}))
		if got.status == http.StatusOK && said.ID == theirs {
			taken++
		}
	}
	_, after := must.Get2(t.accessOf(ctx, v.ID))
	var endless int
	must.Do(t.pool.QueryRow(ctx, `SELECT count(*) FROM access WHERE cluster_id = $1 AND expires_at > now() + interval '30 days'`, id).Scan(&endless))
	must.Do(t.failAndEnd(ctx, k, id))
	throughIf(taken > 0 || before != after || endless > 0,
		"%d of 3 reports about the victim's access were taken, its row is %s and was %s, %d endless tokens are kept", taken, after, before, endless)
	return held("3 reports about the victim's access were refused and its row is as it was; no token is kept that is valid for a century")
}

// accessOf returns the oldest access to a cluster, and a digest of everything that is stored of the cluster's access.
func (t *target) accessOf(ctx context.Context, cluster string) (id, digest string, err error) {
	err = t.pool.QueryRow(ctx, `SELECT min(id), md5(string_agg(a::text, ' ' ORDER BY id)) FROM access a WHERE cluster_id = $1`, cluster).Scan(&id, &digest)
	return id, digest, err
}

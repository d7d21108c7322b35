package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/artifacts"
)

// errOverwritten says that a conditional write replaced an object.
var errOverwritten = errors.New("the second write with If-None-Match replaced the first object; want 412 Precondition Failed")

// ownWrites writes, reads and deletes an object as this process, under doctor/. With a role for runners this process need not write.
func (d *doctor) ownWrites(ctx context.Context, f *findings, b bucket) {
	a := d.Settings.Artifacts
	switch {
	case d.ReadOnly:
		f.skip("write", "-read-only")
		return
	case !d.Roles.Has(config.WorkerRole) && a.RunnerRole != "":
		f.skip("write", "the role api only reads the bucket; see s3.runner-role")
		return
	}
	for _, try := range []struct{ check, field, key string }{{"write", "artifacts.kms_key", a.KMSKey}, {"operate-key", "artifacts.operate_kms_key", a.OperateKMSKey}} {
		if try.check == "operate-key" && try.key == "" {
			continue
		}
		key := "doctor/" + strings.ToLower(rand.Text())
		err := b.writeOnce(ctx, key, try.key)
		d.checkDeletion(ctx, f, b, key, err)
		switch code := codeOf(err); {
		case err == nil && try.key != "":
			f.ok(try.check, "an object was written once with the key %s, read back and checked", try.key)
		case err == nil:
			f.ok(try.check, "an object was written once (a second conditional write was refused), read back and checked")
		case errors.Is(err, errOverwritten):
			f.fail(try.check, "Use an S3 with conditional writes (AWS has them): without them two runners could overwrite each other's state.", "%s", err)
		case code == "AccessDenied" && a.RunnerRole != "" && !strings.Contains(err.Error(), "kms:"):
			f.skip(try.check, "this identity may not write, and need not: runners write with artifacts.runner_role")
		case strings.HasPrefix(code, "KMS."), strings.Contains(err.Error(), "kms:"):
			f.fail(try.check, "Correct "+try.field+", and allow this identity kms:GenerateDataKey and kms:Decrypt on the key.", "%s", err)
		case code == "AccessDenied":
			f.fail(try.check, "Allow this identity s3:PutObject and s3:GetObject on arn:aws:s3:::"+b.name+"/*.", "%s", err)
		default:
			f.fail(try.check, "Check that this machine reaches S3.", "%s", err)
		}
	}
}

// writeOnce writes an object twice under the condition that it does not exist, expects the second write to be refused, and reads the
// object back.
func (b bucket) writeOnce(ctx context.Context, key, kms string) error {
	body := []byte("ocpctl-server doctor " + key)
	sum := sha256.Sum256(body)
	put := func() error {
		in := &s3.PutObjectInput{
			Bucket: &b.name, Key: &key, Body: bytes.NewReader(body), IfNoneMatch: aws.String("*"),
			ChecksumAlgorithm: types.ChecksumAlgorithmSha256, ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum[:])),
		}
		if kms != "" {
			in.ServerSideEncryption, in.SSEKMSKeyId = types.ServerSideEncryptionAwsKms, &kms
		}
		_, err := b.client.PutObject(ctx, in)
		return err
	}
	if err := put(); err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	if err := put(); err == nil {
		return errOverwritten
	} else if codeOf(err) != "PreconditionFailed" {
		return fmt.Errorf("write %s again: %w", key, err)
	}
	got, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	defer got.Body.Close()
	there, err := io.ReadAll(io.LimitReader(got.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	if !bytes.Equal(there, body) {
		return fmt.Errorf("read %s: it differs from what was written", key)
	}
	return nil
}

// checkDeletion removes the probe in every version, as the server does with a cluster's state after its end, and reports only a failure.
func (d *doctor) checkDeletion(ctx context.Context, f *findings, b bucket, key string, probed error) {
	if code := codeOf(probed); probed != nil && code != "PreconditionFailed" && !errors.Is(probed, errOverwritten) {
		return // it was not written
	}
	list, err := b.client.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &b.name, Prefix: &key})
	if err == nil {
		for _, v := range list.Versions {
			if _, err = b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: v.Key, VersionId: v.VersionId}); err != nil {
				break
			}
		}
	}
	if err != nil {
		f.fail("delete", "Allow this identity s3:ListBucketVersions on the bucket, and s3:DeleteObject and s3:DeleteObjectVersion on its objects. Then delete "+key+".",
			"the probe could not be deleted: %s", err)
	}
}

// runnerRole assumes the role for runners as an attempt would get it, and checks that it can do its work and nothing else.
func (d *doctor) runnerRole(ctx context.Context, f *findings, b bucket) {
	a := d.Settings.Artifacts
	switch {
	case a.RunnerRole == "":
		f.warn("runner-role", "Set artifacts.runner_role; docs/configuration.md, \"Bucket access for runners\".",
			"artifacts.runner_role is not set: every runner can read every cluster's state")
		return
	case !d.Roles.Has(config.APIRole):
		f.skip("runner-role", "only the role api assumes %s", a.RunnerRole)
		return
	}
	attempt := "doctor-" + strings.ToLower(rand.Text())
	grants, err := artifacts.NewGrants(ctx, artifacts.Config{Bucket: a.Bucket, KMSKey: a.KMSKey, OperateKMSKey: a.OperateKMSKey}, a.RunnerRole)
	if err == nil {
		var who aws.Credentials
		if who, err = grants.Grant(ctx, artifacts.Part{Cluster: "doctor", Attempt: attempt, Number: 1}); err == nil {
			b, _, err = openBucket(ctx, a.Bucket, credentials.StaticCredentialsProvider{Value: who})
		}
	}
	if err != nil {
		f.fail("runner-role", "Allow this identity sts:AssumeRole on the role, and let the role's trust policy name this identity.", "%s", err)
		return
	}
	if d.ReadOnly {
		f.ok("runner-role", "%s can be assumed; what it may do was not checked (-read-only)", a.RunnerRole)
		return
	}
	d.checkGrant(ctx, f, b, attempt)
}

// checkGrant checks what an attempt's credentials may do.
func (d *doctor) checkGrant(ctx context.Context, f *findings, runner bucket, attempt string) {
	role, mine, foreign := d.Settings.Artifacts.RunnerRole, spoolPrefix+attempt+"/probe", "doctor/"+attempt
	err := runner.writeOnce(ctx, mine, d.Settings.Artifacts.KMSKey)
	own, _, openErr := openBucket(ctx, runner.name, nil)
	if openErr == nil && d.Roles.Has(config.WorkerRole) { // the role api may not delete; the rule for spools does
		d.checkDeletion(ctx, f, own, mine, err)
	}
	if err != nil {
		f.fail("runner-role", "Allow the role s3:GetObject and s3:PutObject on the bucket's objects, and kms:GenerateDataKey and kms:Decrypt on its keys.",
			"an attempt with %s cannot use its own part of the bucket: %s", role, err)
		return
	}
	var tooMuch []string
	if runner.writeOnce(ctx, foreign, d.Settings.Artifacts.KMSKey) == nil {
		tooMuch = append(tooMuch, "write outside its own part")
		d.checkDeletion(ctx, f, own, foreign, nil)
	}
	if _, err := runner.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &runner.name, MaxKeys: aws.Int32(1)}); err == nil {
		tooMuch = append(tooMuch, "list the bucket")
	}
	if len(tooMuch) > 0 {
		f.fail("runner-role", "Remove bucket policies that grant the role more than its session policy: they add to it.", "an attempt with %s can %s", role, joinWords(tooMuch))
		return
	}
	f.ok("runner-role", "an attempt with %s can write once in its own part of the bucket, and nowhere else", role)
}

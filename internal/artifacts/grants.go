package artifacts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// grantLasts is the life of a grant's credentials: AWS allows no more if one role assumes another.
const grantLasts = time.Hour

// Part is one attempt's part of the bucket.
type Part struct {
	Cluster   string // id
	Attempt   string // id
	Number    int    // number of the attempt within the cluster
	KeepsKeys bool   // the attempt reads the cluster's credentials, which a teardown does not need
}

// Grants issues credentials for one attempt's part of the bucket and nothing else: it assumes a role, restricted by a session policy.
// Safe for concurrent use.
type Grants struct {
	sts  *sts.Client
	role string
	cfg  Config
}

// NewGrants loads the SDK's default configuration, whose identity must be allowed to assume the role. It makes no call.
func NewGrants(ctx context.Context, cfg Config, roleARN string) (*Grants, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the AWS configuration for grants: %w", err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	return &Grants{sts: sts.NewFromConfig(loaded), role: roleARN, cfg: cfg}, nil
}

// Grant returns credentials for a part of the bucket, valid for an hour.
func (g *Grants) Grant(ctx context.Context, part Part) (aws.Credentials, error) {
	policy, err := g.sessionPolicy(part)
	if err != nil {
		return aws.Credentials{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	out, err := g.sts.AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn: &g.role, RoleSessionName: aws.String(part.Attempt), Policy: &policy, DurationSeconds: aws.Int32(int32(grantLasts.Seconds())),
	})
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("assume %s for attempt %s: %w", g.role, part.Attempt, err)
	}
	return aws.Credentials{
		AccessKeyID: aws.ToString(out.Credentials.AccessKeyId), SecretAccessKey: aws.ToString(out.Credentials.SecretAccessKey),
		SessionToken: aws.ToString(out.Credentials.SessionToken), CanExpire: true, Expires: aws.ToTime(out.Credentials.Expiration),
	}, nil
}

type statement struct {
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string]string `json:",omitempty"`
}

// sessionPolicy returns the session policy of a part: the attempt writes below the folders of its own number and into its own spool, and
// reads the cluster's archives. It can neither delete nor list, and objects are written once because every write is conditional. AWS
// accepts at most 2,048 characters.
func (g *Grants) sessionPolicy(part Part) (string, error) {
	for _, id := range []string{part.Cluster, part.Attempt} {
		if !plainID.MatchString(id) {
			return "", fmt.Errorf("grant for %q: not an id", id)
		}
	}
	bucket := "arn:aws:s3:::" + g.cfg.Bucket + "/"
	own, keys := "clusters/"+part.Cluster+"/", operatePrefix+"clusters/"+part.Cluster+"/"
	mine := fmt.Sprintf("*-a%d/*", part.Number)
	spool := bucket + "spool/" + part.Attempt + "/*"
	statements := []statement{
		{Effect: "Allow", Action: []string{"s3:PutObject"}, Resource: []string{bucket + own + mine, bucket + keys + mine, spool}},
		{Effect: "Allow", Action: []string{"s3:GetObject"}, Resource: []string{bucket + own + "*", bucket + keys + mine, spool}},
	}
	if part.KeepsKeys {
		statements[1].Resource[1] = bucket + keys + "*"
	}
	if keys := g.kmsKeys(); len(keys) > 0 {
		statements = append(statements, statement{Effect: "Allow", Action: []string{"kms:GenerateDataKey", "kms:Decrypt"}, Resource: keys,
			Condition: map[string]map[string]string{"StringLike": {"kms:ViaService": "s3.*"}}})
	}
	raw, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements})
	return string(raw), err
}

// kmsKeys returns the bucket's keys as a policy names them. A key that is configured by id or alias has no ARN here, so the session
// policy allows any key; the role's own policy names the keys.
func (g *Grants) kmsKeys() (arns []string) {
	for _, key := range []string{g.cfg.KMSKey, g.cfg.OperateKMSKey} {
		switch {
		case key == "":
		case strings.HasPrefix(key, "arn:") && strings.Contains(key, ":key/"):
			arns = append(arns, key)
		default:
			return []string{"*"}
		}
	}
	return arns
}

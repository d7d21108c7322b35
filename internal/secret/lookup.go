package secret

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// lookupTimeout limits one lookup, including the SDK's own retries.
const lookupTimeout = 30 * time.Second

// References describes the forms of a reference, for error messages.
const References = "file:/path, or aws-sm:<name or ARN of a secret in AWS Secrets Manager>, with #<key> where it is a JSON object"

// Lookup resolves a reference to its secret: "file:/path" is the file's content without its final newline; "aws-sm:name" or
// "aws-sm:arn" is the newest version of a secret in AWS Secrets Manager, found with the SDK's default chain; "#key" after it selects
// one string of a JSON object. The error contains the reference, which is not secret, and never the value.
func Lookup(ctx context.Context, ref string) (Text, error) {
	if err := Check(ref); err != nil {
		return Text{}, err
	}
	scheme, rest, _ := strings.Cut(ref, ":")
	read := fromFile
	if scheme == "aws-sm" {
		read = fromSecretsManager
	}
	value, err := read(ctx, rest)
	if err != nil {
		return Text{}, fmt.Errorf("read secret reference %q: %w", ref, err)
	}
	return Text{value}, nil
}

// Check says what is wrong with a reference's form; it looks nothing up.
func Check(ref string) error {
	scheme, rest, _ := strings.Cut(ref, ":")
	if known := scheme == "file" || scheme == "aws-sm"; !known || rest == "" || strings.HasPrefix(rest, "#") {
		return fmt.Errorf("secret reference %q: want %s", ref, References)
	}
	return nil
}

func fromFile(_ context.Context, path string) (string, error) {
	raw, err := os.ReadFile(path)
	return strings.TrimSuffix(string(raw), "\n"), err
}

func fromSecretsManager(ctx context.Context, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	id, key, wantsKey := strings.Cut(id, "#")
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return "", fmt.Errorf("load the AWS configuration: %w", err)
	}
	if parsed, err := arn.Parse(id); err == nil {
		cfg.Region = parsed.Region // a secret is in one region, whatever ours is
	}
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return "", err
	}
	value := aws.ToString(out.SecretString)
	if out.SecretString == nil {
		value = string(out.SecretBinary)
	}
	if !wantsKey {
		return value, nil
	}
	return jsonMember(value, key)
}

// jsonMember returns one string of a JSON object. Its errors quote nothing of the object.
func jsonMember(object, key string) (string, error) {
	var fields map[string]any
	if json.Unmarshal([]byte(object), &fields) != nil {
		return "", errors.New("the secret is no JSON object, so it has no keys")
	}
	value, ok := fields[key].(string)
	if !ok {
		return "", fmt.Errorf("the secret has no string under the key %q", key)
	}
	return value, nil
}

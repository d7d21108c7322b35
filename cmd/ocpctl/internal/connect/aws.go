package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
)

// fromAWS signs an STS request with the credentials of the SDK's own chain and exchanges it at the server. The credentials themselves
// are never sent.
func fromAWS(c Context, server *client.Client) source {
	return func(ctx context.Context) (token, error) {
		options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})} // problems come back as errors
		if c.AWSProfile != "" {
			options = append(options, config.WithSharedConfigProfile(c.AWSProfile))
		}
		if c.AWSRegion != "" {
			options = append(options, config.WithRegion(c.AWSRegion))
		}
		cfg, err := config.LoadDefaultConfig(ctx, options...)
		if err != nil {
			return token{}, fmt.Errorf("read the AWS configuration: %w", err)
		}
		proof, err := awsproof.Sign(ctx, cfg, c.proofAudience())
		if err != nil {
			return token{}, fmt.Errorf("%w\nCheck your credentials with `aws sts get-caller-identity`; `aws sso login` or AWS_PROFILE usually fixes it", err)
		}
		answer, err := Read[v1.SessionToken](server.SignInWithAWS(ctx, v1.AWSProof{URL: proof.URL, Headers: proof.Headers}))
		if err != nil {
			return token{}, err
		}
		if answer.Value.Token == "" {
			return token{}, errors.New("the server's response contains no token")
		}
		return token{text: answer.Value.Token, expires: answer.Value.ExpiresAt}, nil
	}
}

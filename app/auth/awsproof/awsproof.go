// Package awsproof makes the proof with which a program that has an AWS identity signs in to ocpctl: a request to AWS STS,
// signed and not sent, that asks who the signer is. The server sends it and believes STS's answer.
//
// The proof holds no secret key. It names the server it is for and a text that is used once, both signed, so that no other
// server can use it and nobody can use it twice. The package knows nothing of the server but how a proof looks.
package awsproof

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// The headers that must be signed beside host.
const (
	AudienceHeader = "x-ocpctl-audience" // the server the proof is for: its address, as people reach it
	NonceHeader    = "x-ocpctl-nonce"    // 16 to 128 characters that were not used before
)

// MostLife is the longest a proof may hold.
const MostLife = 15 * time.Minute

// life of the proofs made here: enough for one exchange.
const life = time.Minute

// Proof is a signed request that was not sent.
type Proof struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // those that were signed beside host, by lower-case name
}

// Sign proves to the server with this audience who the configuration's credentials are. It asks STS nothing; the
// configuration's region, or AWS_ENDPOINT_URL_STS, says whose STS the server will ask.
func Sign(ctx context.Context, cfg aws.Config, audience string) (Proof, error) {
	if cfg.Credentials == nil {
		return Proof{}, errors.New("sign in with AWS: there are no credentials; set AWS_PROFILE, or see aws configure")
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	headers := map[string]string{AudienceHeader: audience, NonceHeader: hex.EncodeToString(raw)}
	client := sts.NewPresignClient(sts.NewFromConfig(cfg), sts.WithPresignClientFromClientOptions(func(o *sts.Options) {
		for name, value := range headers {
			o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue(name, value))
		}
		// The signer moves it into the query.
		o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("X-Amz-Expires", strconv.Itoa(int(life.Seconds()))))
	}))
	signed, err := client.PresignGetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return Proof{}, fmt.Errorf("sign in with AWS: %w", err)
	}
	return Proof{URL: signed.URL, Headers: headers}, nil
}

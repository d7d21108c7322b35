// Package awsproof makes the proof with which a program with an AWS identity signs in to ocpctl: a signed but unsent request to AWS
// STS that asks who the signer is. The server sends it and trusts STS's response.
//
// The proof contains no secret key. It names the server that it is for and a nonce, both signed, so that no other server can use it
// and nobody can use it twice. Of the server, the package knows only the format of a proof.
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

// The headers that must be signed besides host.
const (
	AudienceHeader = "x-ocpctl-audience" // the server that the proof is for: its public URL
	NonceHeader    = "x-ocpctl-nonce"    // 16 to 128 characters, never reused
)

// MostLife is the longest validity of a proof.
const MostLife = 15 * time.Minute

// life is the validity of the proofs made here: enough for one exchange.
const life = time.Minute

// Proof is a signed request that was not sent.
type Proof struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // the signed headers besides host, by lowercase name
}

// Sign proves to the server with this audience whose the configuration's credentials are. It does not call STS; the configuration's
// region, or AWS_ENDPOINT_URL_STS, determines which STS endpoint the server will call.
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

package auth

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// AWSConfig says which AWS identities are accepted.
type AWSConfig struct {
	Audience      string   // URL of this installation
	Accounts      []string // accepted accounts; empty: any that Organizations allows
	Organizations []string // accepted organizations of the account; empty: not checked
	Endpoints     []string // STS endpoints besides AWS's own: a VPC endpoint, the demo's stand-in; scheme://host
	Directory     Directory
	Sessions      *Sessions
	Verifier      *Verifier // computes the seats
	Spend         Spend
	Timeout       time.Duration    // of one call to STS; zero: 10 s
	Now           func() time.Time // nil: time.Now
}

// Directory returns the organisation of an account; empty: none that it can see.
type Directory interface {
	OrganizationOf(ctx context.Context, account string) (string, error)
}

// Exchange gives a short session for a proof of an AWS identity. Safe for concurrent use.
type Exchange struct {
	AWSConfig
	endpoints []string // as scheme://host, in lower case
	client    *http.Client
	attempts  *attempts
	now       func() time.Time
}

// Issued is a session and its bearer token.
type Issued struct {
	Session
	Token secret.Text
}

// tokenLife is the life of a program's session. It is short, because a program can prove its identity again at any time.
const tokenLife = 15 * time.Minute

// NewExchange returns the exchange of AWS identities. It makes no call yet.
func NewExchange(c AWSConfig) (*Exchange, error) {
	switch {
	case len(c.Accounts) == 0 && len(c.Organizations) == 0:
		return nil, errors.New("accounts or organizations must be set; without them everybody with an AWS account could sign in")
	case len(c.Organizations) > 0 && c.Directory == nil:
		return nil, errors.New("a directory of the organizations' accounts is required")
	case c.Audience == "" || c.Sessions == nil || c.Verifier == nil || c.Spend == nil:
		return nil, errors.New("an audience, sessions, a verifier and a store for used signatures are required")
	}
	e := &Exchange{AWSConfig: c, now: clockOrDefault(c.Now), attempts: newAttempts(clockOrDefault(c.Now)), client: &http.Client{
		Timeout:       timeoutOrDefault(c.Timeout),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, address := range c.Endpoints {
		e.endpoints = append(e.endpoints, strings.ToLower(strings.TrimSuffix(address, "/")))
	}
	return e, nil
}

// Exchange checks a proof, lets STS identify the signer, and signs a session of 15 minutes. Each proof is accepted once. Failures are
// charged to address, where the request comes from. Its errors are *Error, with a text for people.
func (e *Exchange) Exchange(ctx context.Context, address string, p Proof) (Issued, error) {
	c, err := e.checkProof(p)
	if err != nil {
		return Issued{}, err
	}
	end, err := e.attempts.beginAttempt(ctx, address, c.accessKey)
	if err != nil {
		return Issued{}, err
	}
	claims, err := e.identifyCaller(ctx, c)
	if err == nil {
		const text = "This proof was already used. Sign a new one."
		err = e.Spend.spendOnce(ctx, hashOf(c.signature), c.until.Add(awsproof.MostLife), text)
	}
	end(classifyAttempt(ctx, err))
	if err != nil {
		return Issued{}, err
	}
	raw, expires, err := e.Sessions.issueSession(claims, tokenLife)
	if err != nil {
		return Issued{}, err
	}
	return Issued{Session: e.Verifier.newSession(claims, expires), Token: secret.New(raw)}, nil
}

// classifyAttempt classifies an attempt. Nobody is charged if STS does not respond, but a caller that disconnects before the response is
// charged, so that this is not free.
func classifyAttempt(ctx context.Context, err error) result {
	var said *Error
	switch {
	case err == nil:
		return succeeded
	case errors.As(err, &said) && said.Reason == Unavailable && !errors.Is(ctx.Err(), context.Canceled):
		return unanswered
	}
	return failed
}

// identifyCaller asks STS who signed, and checks whether they may sign in.
func (e *Exchange) identifyCaller(ctx context.Context, c checked) (policy.Claims, error) {
	who, err := e.askSTS(ctx, c)
	if err != nil {
		return policy.Claims{}, err
	}
	claims, err := claimsOfCaller(who)
	if err != nil {
		return policy.Claims{}, err
	}
	return claims, e.checkAccount(ctx, claims)
}

// callerIdentity is STS's response.
type callerIdentity struct {
	XMLName xml.Name `xml:"GetCallerIdentityResponse"`
	Arn     string   `xml:"GetCallerIdentityResult>Arn"`
	UserID  string   `xml:"GetCallerIdentityResult>UserId"`
	Account string   `xml:"GetCallerIdentityResult>Account"`
}

const answerLimit = 64 << 10

// askSTS sends the proof and reads whose it is. No text from STS is passed on, because it may quote the request.
func (e *Exchange) askSTS(ctx context.Context, c checked) (callerIdentity, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.to.String(), nil)
	if err != nil {
		return callerIdentity{}, refuseWith(Malformed, "The proof's url is not valid. %s", howToSign)
	}
	r.Header = c.headers
	silent := "AWS STS at " + c.to.Host + " does not respond. Try again in a minute."
	answer, err := e.client.Do(r)
	var unknown *net.DNSError
	if errors.As(err, &unknown) && unknown.IsNotFound {
		return callerIdentity{}, refuseWith(NotAllowed, "There is no AWS STS at %s. Check the region.", c.to.Host)
	}
	if err != nil {
		return callerIdentity{}, &Error{Unavailable, silent, fmt.Errorf("ask %s: %w", c.to.Host, errors.Unwrap(err))} // the complete error quotes the URL
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	switch {
	case err != nil:
		return callerIdentity{}, &Error{Unavailable, silent, err}
	case answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests:
		return callerIdentity{}, &Error{Unavailable, silent, fmt.Errorf("%s answered %s", c.to.Host, answer.Status)}
	case answer.StatusCode != http.StatusOK:
		return callerIdentity{}, &Error{BadSignature, "AWS STS does not accept the proof's signature. Check your credentials with aws sts get-caller-identity, and sign a new proof.",
			fmt.Errorf("%s answered %s", c.to.Host, answer.Status)}
	}
	var who callerIdentity
	if err := xml.Unmarshal(raw, &who); err != nil || who.Arn == "" || who.Account == "" {
		return callerIdentity{}, &Error{Unavailable, "AWS STS at " + c.to.Host + " gave an unexpected response. Try again in a minute.", err}
	}
	return who, nil
}

// ssoRole is the prefix of roles that IAM Identity Center makes. Their session names are the person's name; in all other roles the
// caller chooses the session name.
const ssoRole = "AWSReservedSSO_"

// claimsOfCaller converts an ARN to claims. For a role it is the role's ARN, because sessions come and go. It has no path, because
// STS does not return it.
func claimsOfCaller(who callerIdentity) (policy.Claims, error) {
	parsed, err := arn.Parse(who.Arn)
	if err != nil || parsed.AccountID != who.Account {
		return policy.Claims{}, &Error{Unavailable, "The response of AWS STS contains no identity. Try again in a minute.", err}
	}
	kind, name, _ := strings.Cut(parsed.Resource, "/")
	c := policy.Claims{Source: profiles.SourceAWS, Values: map[string][]string{"account": {who.Account}, "userid": {who.UserID}}}
	switch {
	case parsed.Service == "iam" && kind == "user" && name != "":
		c.Subject, c.Name = who.Arn, name[strings.LastIndexByte(name, '/')+1:]
		c.Values["arn"] = []string{who.Arn}
	case parsed.Service == "sts" && kind == "assumed-role":
		role, session, found := strings.Cut(name, "/")
		if !found || role == "" {
			return policy.Claims{}, refuseWith(NotAllowed, "AWS STS returned a role without a session. Sign in with a role or a user.")
		}
		c.Subject = "arn:" + parsed.Partition + ":iam::" + who.Account + ":role/" + role
		c.Name = role
		c.Values["arn"], c.Values["session"] = []string{c.Subject}, []string{session}
		if strings.HasPrefix(role, ssoRole) {
			c.Subject, c.Name = c.Subject+"/"+session, session
		}
	default:
		return policy.Claims{}, refuseWith(NotAllowed, "An AWS %s of account %s cannot sign in. Use a role or a user.", kind, who.Account)
	}
	return c, nil
}

// checkAccount checks the account against every configured list. If the organisation cannot be looked up, nobody is let in.
func (e *Exchange) checkAccount(ctx context.Context, c policy.Claims) error {
	account := c.Values["account"][0]
	if len(e.Accounts) > 0 && !slices.Contains(e.Accounts, account) {
		return refuseWith(NotAllowed, "Account %s is not allowed to sign in here. An operator can add it to aws.accounts.", account)
	}
	if len(e.Organizations) == 0 {
		return nil
	}
	organization, err := e.Directory.OrganizationOf(ctx, account)
	if err != nil {
		return &Error{Unavailable, "AWS Organizations could not be asked for the organization of account " + account + ". Try again in a minute.", err}
	}
	if !slices.Contains(e.Organizations, organization) {
		return refuseWith(NotAllowed, "Account %s belongs to no organization that may sign in here. An operator can add its organization to aws.organizations.", account)
	}
	c.Values["organization"] = []string{organization}
	return nil
}

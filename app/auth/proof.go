package auth

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/auth/awsproof"
)

// Proof is a signed STS request that was not sent; awsproof makes it.
type Proof = awsproof.Proof

// A proof is somebody else's request that the server is asked to send. So it must be exactly the one allowed request, to AWS, signed
// for this server, a short time ago.

// stsHost matches the hosts of AWS STS: global, regional, FIPS, in China.
var stsHost = regexp.MustCompile(`^sts(-fips)?(\.[a-z]{2}(-[a-z]+)+-[0-9]{1,2})?\.amazonaws\.com(\.cn)?$`)

var (
	signatureHex = regexp.MustCompile(`^[0-9a-f]{64}$`)
	nonceForm    = regexp.MustCompile(`^[!-~]{16,128}$`)
	// https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html says at least 16; STS itself refuses shorter ones.
	accessKeyForm = regexp.MustCompile(`^\w{1,128}$`)
)

// proofFields are all allowed query parameters.
var proofFields = []string{
	"Action", "Version", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token",
	"X-Amz-Signature", "X-Amz-SignedHeaders",
}

// signedHeaders are the headers that a proof signs, in their order.
var signedHeaders = []string{"host", awsproof.AudienceHeader, awsproof.NonceHeader}

const howToSign = "Sign in with ocpctl login, or see docs/identity.md for the format of a proof."

// checked is a proof that may be sent.
type checked struct {
	to        *url.URL
	headers   http.Header
	signature string
	accessKey string    // the access key that it claims to be signed with
	until     time.Time // STS no longer accepts it after that
}

// checkProof validates a proof before anything is sent. The request that is sent is rebuilt from validated parts.
func (e *Exchange) checkProof(p Proof) (checked, error) {
	to, err := e.checkEndpoint(p.URL)
	if err != nil {
		return checked{}, err
	}
	fields, err := fieldsOf(p.URL)
	if err != nil {
		return checked{}, err
	}
	c := checked{to: to, signature: fields.Get("X-Amz-Signature"), headers: http.Header{}}
	if !signatureHex.MatchString(c.signature) {
		return checked{}, refuseWith(Malformed, "The proof's X-Amz-Signature is not 64 hexadecimal digits. %s", howToSign)
	}
	c.accessKey, _, _ = strings.Cut(fields.Get("X-Amz-Credential"), "/")
	if !accessKeyForm.MatchString(c.accessKey) {
		return checked{}, refuseWith(Malformed, "The proof's X-Amz-Credential does not start with an access key id. %s", howToSign)
	}
	if c.until, err = e.inTime(fields); err != nil {
		return checked{}, err
	}
	if err := e.forUs(fields.Get("X-Amz-SignedHeaders"), p.Headers, c.headers); err != nil {
		return checked{}, err
	}
	// Encoded as SigV4 does, so that STS reads what was signed: a space is %20, never a plus.
	c.to.RawQuery = strings.ReplaceAll(fields.Encode(), "+", "%20")
	return c, nil
}

// checkEndpoint accepts AWS's own STS over https, and the endpoints in the configuration.
func (e *Exchange) checkEndpoint(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, refuseWith(Malformed, "The proof's url is not valid. %s", howToSign)
	}
	origin := u.Scheme + "://" + strings.ToLower(u.Host)
	switch {
	case u.User != nil || u.Fragment != "" || u.Path != "" && u.Path != "/":
		return nil, refuseWith(NotAllowed, "The proof's url must have only a host and a query. %s", howToSign)
	case slices.Contains(e.endpoints, origin):
	case u.Scheme != "https":
		return nil, refuseWith(NotAllowed, "The proof's address does not use https. %s", howToSign)
	case !stsHost.MatchString(u.Host):
		return nil, refuseWith(NotAllowed, "The proof is for %q, which is not AWS STS. Accepted: sts.amazonaws.com and sts.<region>.amazonaws.com.", u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: "/"}, nil
}

// fieldsOf parses the query: every parameter must be known and occur once, and the action must be the allowed one.
func fieldsOf(raw string) (url.Values, error) {
	_, query, _ := strings.Cut(raw, "?")
	fields, err := url.ParseQuery(query)
	if err != nil {
		return nil, refuseWith(Malformed, "The proof's query is not valid. %s", howToSign)
	}
	for name, values := range fields {
		if !slices.Contains(proofFields, name) || len(values) != 1 {
			return nil, refuseWith(NotAllowed, "The proof's query contains more than the signature of GetCallerIdentity, or a parameter twice. %s", howToSign)
		}
	}
	scope := strings.Split(fields.Get("X-Amz-Credential"), "/")
	switch {
	case fields.Get("Action") != "GetCallerIdentity" || fields.Get("Version") != "2011-06-15":
		return nil, refuseWith(NotAllowed, "The proof is not for GetCallerIdentity, version 2011-06-15. %s", howToSign)
	case fields.Get("X-Amz-Algorithm") != "AWS4-HMAC-SHA256" || len(scope) != 5 || scope[3] != "sts" || scope[4] != "aws4_request":
		return nil, refuseWith(NotAllowed, "The proof is not signed with AWS4-HMAC-SHA256 for sts. %s", howToSign)
	}
	return fields, nil
}

// inTime accepts a proof made in the last minutes, and returns until when it is valid.
func (e *Exchange) inTime(fields url.Values) (time.Time, error) {
	made, err := time.Parse("20060102T150405Z", fields.Get("X-Amz-Date"))
	seconds, err2 := strconv.Atoi(fields.Get("X-Amz-Expires"))
	if err != nil || err2 != nil {
		return time.Time{}, refuseWith(Malformed, "The proof's X-Amz-Date or X-Amz-Expires is not valid. %s", howToSign)
	}
	life, now := time.Duration(seconds)*time.Second, e.now()
	until := made.Add(life)
	switch {
	case life <= 0 || life > awsproof.MostLife:
		return time.Time{}, refuseWith(NotAllowed, "The proof is valid for %d s. Set X-Amz-Expires to 1 to %d.", seconds, int(awsproof.MostLife.Seconds()))
	case made.After(now.Add(proofSkew)):
		return time.Time{}, refuseWith(NotYet, "The proof was signed in the future, at %s. Check the clocks.", made.Format(time.RFC3339))
	case now.After(until.Add(skew)), now.Sub(made) > awsproof.MostLife+skew:
		return time.Time{}, refuseWith(Expired, "The proof expired at %s. Sign a new one.", until.Format(time.RFC3339))
	}
	return until, nil
}

// proofSkew is how far a signer's clock may be ahead.
const proofSkew = 2 * time.Minute

// forUs accepts exactly the three signed headers, one of them with our audience, and copies those that are sent.
func (e *Exchange) forUs(signed string, given map[string]string, out http.Header) error {
	names := strings.Split(signed, ";")
	slices.Sort(names)
	if !slices.Equal(names, signedHeaders) {
		return refuseWith(NotAllowed, "The proof signs the headers %q but must sign %q. %s", signed, strings.Join(signedHeaders, ";"), howToSign)
	}
	headers := map[string]string{}
	for name, value := range given {
		if name = strings.ToLower(name); name == "host" {
			continue // it is part of the URL
		}
		if _, twice := headers[name]; twice || !slices.Contains(signedHeaders, name) {
			return refuseWith(NotAllowed, "The proof has an unsigned header, or a header twice. %s", howToSign)
		}
		headers[name] = value
	}
	if audience := headers[awsproof.AudienceHeader]; audience != e.Audience {
		return refuseWith(WrongAudience, "The proof is for %q, but this server is %q. Sign one with that %s.", audience, e.Audience, awsproof.AudienceHeader)
	}
	if !nonceForm.MatchString(headers[awsproof.NonceHeader]) {
		return refuseWith(Malformed, "The proof's %s is not 16 to 128 visible characters. %s", awsproof.NonceHeader, howToSign)
	}
	for name, value := range headers {
		out.Set(name, value)
	}
	return nil
}

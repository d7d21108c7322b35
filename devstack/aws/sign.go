package aws

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/ocpctl/ocpctl/devstack/aws/session"
)

// skew is how far a signature's date may be off, as in AWS.
const skew = 15 * time.Minute

// scope is what a signature says about its request.
type scope struct {
	key, region, service string
	headers              []string
	signature            string
	date                 time.Time
	presigned            bool
	expires              time.Duration // how long after its date it is valid
}

// readScope reads the credential scope from the Authorization header or, for a presigned request, from the query.
func readScope(r *http.Request) (scope, *Fault) {
	fields := map[string]string{}
	sc := scope{expires: skew}
	date := r.Header.Get("X-Amz-Date")
	if q := r.URL.Query(); q.Get("X-Amz-Signature") != "" {
		sc.presigned = true
		date = q.Get("X-Amz-Date")
		if seconds, err := strconv.Atoi(q.Get("X-Amz-Expires")); err == nil {
			sc.expires = time.Duration(seconds) * time.Second
		}
		fields = map[string]string{"Credential": q.Get("X-Amz-Credential"), "SignedHeaders": q.Get("X-Amz-SignedHeaders"), "Signature": q.Get("X-Amz-Signature")}
	} else {
		rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
		if !ok {
			return sc, fault("MissingAuthenticationToken", "Request is missing Authentication Token")
		}
		for part := range strings.SplitSeq(rest, ",") {
			k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
			fields[k] = v
		}
	}
	parts := strings.Split(fields["Credential"], "/")
	when, err := time.Parse("20060102T150405Z", date)
	if len(parts) != 5 || parts[4] != "aws4_request" || fields["Signature"] == "" || err != nil {
		return sc, fault("IncompleteSignature", "Authorization header requires 'Credential', 'Signature', 'SignedHeaders' and a date")
	}
	sc.key, sc.region, sc.service = parts[0], parts[2], parts[3]
	sc.headers, sc.signature, sc.date = strings.Split(fields["SignedHeaders"], ";"), fields["Signature"], when
	return sc, nil
}

// holds recomputes the signature over the headers that the client lists as signed.
func (sc scope) holds(r *http.Request, body []byte, secret string) bool {
	again, err := http.NewRequestWithContext(context.Background(), r.Method, "http://"+r.Host, nil)
	if err != nil {
		return false
	}
	u := *r.URL
	u.Scheme, u.Host = "http", r.Host
	again.URL, again.Host = &u, r.Host
	for _, h := range sc.headers {
		switch h {
		case "host":
		case "content-length":
			again.ContentLength = int64(len(body))
		default:
			again.Header[http.CanonicalHeaderKey(h)] = r.Header.Values(h)
		}
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	credentials := sdk.Credentials{AccessKeyID: sc.key, SecretAccessKey: secret}
	var got string
	if sc.presigned {
		got = presignature(again, credentials, hash, sc)
	} else if err := v4.NewSigner().SignHTTP(context.Background(), credentials, again, hash, sc.service, sc.region, sc.date); err == nil {
		_, got, _ = strings.Cut(again.Header.Get("Authorization"), "Signature=")
	}
	return got != "" && subtle.ConstantTimeCompare([]byte(got), []byte(sc.signature)) == 1
}

func presignature(again *http.Request, credentials sdk.Credentials, hash string, sc scope) string {
	q := again.URL.Query()
	for _, name := range []string{"X-Amz-Signature", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders"} {
		q.Del(name)
	}
	again.URL.RawQuery = q.Encode()
	signed, _, err := v4.NewSigner().PresignHTTP(context.Background(), credentials, again, hash, sc.service, sc.region, sc.date)
	if err != nil {
		return ""
	}
	u, err := url.Parse(signed)
	if err != nil {
		return ""
	}
	return u.Query().Get("X-Amz-Signature")
}

// authenticate returns whose request this is. It compares the signature's date with the machine's clock, not with the stand-in's,
// because the SDK signs with the machine's.
func (s *Server) authenticate(r *http.Request, body []byte) (scope, caller, *Fault) {
	if isWebIdentity(r, body) {
		return scope{service: "sts"}, caller{}, nil
	}
	sc, f := readScope(r)
	if f != nil {
		return sc, caller{}, f
	}
	who, known := s.caller(sc.key)
	if token := cmp.Or(r.Header.Get("X-Amz-Security-Token"), r.URL.Query().Get("X-Amz-Security-Token")); token != "" {
		who, known = s.session(sc.key, token)
	}
	switch {
	case !known && sc.service == "ec2":
		return sc, who, fault("AuthFailure", "AWS was not able to validate the provided access credentials")
	case !known && speaksJSON[sc.service]:
		return sc, who, fault("UnrecognizedClientException", "The security token included in the request is invalid.")
	case !known:
		return sc, who, fault("InvalidClientTokenId", "The security token included in the request is invalid.")
	case time.Until(sc.date) > skew || time.Since(sc.date) > sc.expires:
		return sc, who, fault("RequestExpired", "Request has expired.")
	case !sc.holds(r, body, who.secret):
		return sc, who, mismatch(sc.service)
	}
	return sc, who, nil
}

// mismatch returns each service's error for a wrong secret.
func mismatch(service string) *Fault {
	const text = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	switch {
	case service == "ec2":
		return fault("AuthFailure", "AWS was not able to validate the provided access credentials")
	case speaksJSON[service]:
		return fault("InvalidSignatureException", text)
	}
	return fault("SignatureDoesNotMatch", text)
}

// caller is the owner of one access key.
type caller struct {
	secret, arn, userID string
	account             string            // empty: the caller's current account
	policies            []string          // each must allow the request; none: everything is allowed
	tags                map[string]string // of the principal
}

// Caller is a user or a role's session, of any account, with a key that was not created here.
type Caller struct {
	AccessKey, SecretKey string
	ARN                  string // arn:aws:iam::<account>:user/<name>, or arn:aws:sts::<account>:assumed-role/<role>/<session>
	Policy               string // its permissions; empty: everything
}

// plainSession matches a valid session name.
var plainSession = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)

// session returns the caller of a session token.
func (s *Server) session(key, token string) (caller, bool) {
	of, err := session.Open(s.cfg.SecretKey, key, token, time.Now())
	if err != nil {
		return caller{}, false
	}
	name := of.ARN[strings.LastIndex(of.ARN, "/")+1:]
	account := strings.Split(of.ARN, ":")[4]
	if account == s.cfg.Account { // SetAccount moves callers of the configured account
		account = ""
	}
	return caller{secret: of.SecretKey, arn: of.ARN, userID: "AROASTANDIN:" + name, account: account, policies: of.Policies(), tags: of.Tags}, true
}

// principal is the ARN that policies know the caller by: of a session, that of its role.
func (c caller) principal() string {
	prefix, rest, isSession := strings.Cut(c.arn, ":assumed-role/")
	if !isSession {
		return c.arn
	}
	role, _, _ := strings.Cut(rest, "/")
	return strings.Replace(prefix, ":sts:", ":iam:", 1) + ":role/" + role
}

func (c Caller) policies() []string {
	if c.Policy == "" {
		return nil
	}
	return []string{c.Policy}
}

// caller looks a key up: the configured one is the account's administrator's, others were created with CreateAccessKey.
func (s *Server) caller(key string) (caller, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == s.cfg.AccessKey {
		return caller{secret: s.cfg.SecretKey, userID: "AIDADEMO0000ADMIN0001", arn: "arn:aws:iam::" + s.world.Account + ":user/demo-admin"}, true
	}
	for _, c := range s.cfg.Callers {
		if key == c.AccessKey {
			arn, account := c.ARN, strings.Split(c.ARN, ":")[4]
			if account == s.cfg.Account { // SetAccount moves callers of the configured account
				account = s.world.Account
				arn = strings.Replace(arn, s.cfg.Account, account, 1)
			}
			return caller{secret: c.SecretKey, userID: "AIDA" + strings.TrimPrefix(c.AccessKey, "AKIA"), arn: arn, account: account, policies: c.policies()}, true
		}
	}
	minted := s.world.First(func(r *Resource) bool { return r.Type == "access-key" && r.ID == key && r.Account == s.world.Account })
	if minted == nil {
		return caller{}, false
	}
	user := s.world.First(func(r *Resource) bool {
		return r.Type == "user" && r.Account == minted.Account && r.Name == minted.Name
	})
	if user == nil {
		return caller{}, false
	}
	return caller{secret: minted.Secrets["key"], userID: user.Attrs["uniqueId"], arn: user.ARN()}, true
}

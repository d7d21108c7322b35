package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack/aws"
)

// garbage is a proof of an access key with a secret that is not its.
func (d *service) garbage(key string) awsproof.Proof {
	return d.sign(aws.Caller{AccessKey: key, SecretKey: "guessed"})
}

func nobodys(n int) string { return fmt.Sprintf("AKIANOBODY%010d", n) }

// tries signs in and returns why that failed; empty: it did not.
func (d *service) tries(address string, p awsproof.Proof) auth.Reason {
	d.Helper()
	_, err := d.Exchange.Exchange(d.Context(), address, p)
	if err == nil {
		return ""
	}
	var said *auth.Error
	require.ErrorAs(d, err, &said)
	return said.Reason
}

func TestGarbageFromOtherAddressesBlocksNoSignIn(t *testing.T) {
	d := newService(t, nil)
	asked := func() int { return d.cloud.Calls()["sts:GetCallerIdentity"].Calls }
	for n := range 200 {
		for _, address := range []string{"203.0.113.1", "203.0.113.2", "2001:db8:1:2::/64"} {
			d.tries(address, d.garbage(nobodys(n)))
			d.tries(address, d.garbage(build.AccessKey)) // a key's id is no secret
		}
	}
	require.Empty(t, d.tries(office, d.sign(build)))
	require.Empty(t, d.tries("198.51.100.8", d.sign(robot)))
	require.Less(t, asked(), 100, "STS is asked for a few of them")
}

func TestFailuresAreChargedToTheAddressAndTheKey(t *testing.T) {
	var clock atomic.Pointer[time.Time]
	pass := func(by time.Duration) {
		now := time.Now()
		if before := clock.Load(); before != nil {
			now = *before
		}
		now = now.Add(by)
		clock.Store(&now)
	}
	pass(0)
	d := newService(t, func(c *auth.AWSConfig) { c.Now = func() time.Time { return *clock.Load() } })
	for range 5 {
		require.Equal(t, auth.BadSignature, d.tries(office, d.garbage(robot.AccessKey)))
	}
	_, err := d.Exchange.Exchange(t.Context(), office, d.garbage(robot.AccessKey))
	require.ErrorContains(t, err, "this access key failed from your address")
	require.ErrorContains(t, err, "try again in 5 s")
	var later auth.Later
	require.ErrorAs(t, err, &later)
	require.Equal(t, 5*time.Second, time.Duration(later))
	require.Empty(t, d.tries("198.51.100.8", d.sign(robot)), "the same key from elsewhere")
	require.Empty(t, d.tries(office, d.sign(build)), "another key from there")

	n := 0
	for ; d.tries(office, d.garbage(nobodys(n))) == auth.BadSignature; n++ {
	}
	require.Equal(t, 15, n, "20 failures, five of them before")
	require.Equal(t, auth.TooOften, d.tries(office, d.sign(person)), "a key that is not known is held up by its address")
	require.Empty(t, d.tries(office, d.sign(build)), "one that signed in before is not")
	pass(time.Second)
	require.Empty(t, d.tries(office, d.sign(person)))
	require.Equal(t, auth.TooOften, d.tries(office, d.garbage(robot.AccessKey)))
	pass(13 * time.Hour)
	for n := range 20 {
		require.NotEmpty(t, d.tries(office, d.garbage(nobodys(n))))
	}
	require.NotEmpty(t, d.tries(office, d.sign(build)), "a key is known for twelve hours")
}

func TestAProofThatIsPlayedAgainIsAFailure(t *testing.T) {
	d := newService(t, nil)
	proof := d.sign(build)
	require.Empty(t, d.tries(office, proof))
	for range 5 {
		require.Equal(t, auth.Replayed, d.tries(office, proof))
	}
	require.Equal(t, auth.TooOften, d.tries(office, proof))
	d.spent.down = true
	for range 10 {
		require.Equal(t, auth.Unavailable, d.tries("198.51.100.8", d.sign(build)))
	}
	d.spent.down = false
	require.Empty(t, d.tries("198.51.100.8", d.sign(build)), "that it could not be noted is nobody's failure")
}

// What an STS does not answer holds up its own address alone.
func TestQuestionsOfOneAddressLeaveCapacityForOthers(t *testing.T) {
	const identity = "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/x</Arn><UserId>u</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"
	var hanging atomic.Int64
	answer := make(chan struct{})
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.RawQuery, build.AccessKey) {
			_, _ = w.Write([]byte(identity))
			return
		}
		hanging.Add(1)
		<-answer
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(sts.Close)
	d := newService(t, func(c *auth.AWSConfig) { c.Endpoints = []string{sts.URL} })
	sign := func(key string) awsproof.Proof {
		cfg := sdk.Config{Region: "us-east-1", BaseEndpoint: sdk.String(sts.URL), Credentials: credentials.NewStaticCredentialsProvider(key, "x", "")}
		proof, err := awsproof.Sign(t.Context(), cfg, here)
		require.NoError(t, err)
		return proof
	}
	var strangers sync.WaitGroup
	for n := range 100 {
		proof := sign(nobodys(n))
		strangers.Go(func() { _, _ = d.Exchange.Exchange(t.Context(), "203.0.113.1", proof) })
	}
	require.Eventually(t, func() bool { return hanging.Load() == 8 }, 10*time.Second, time.Millisecond)
	require.Empty(t, d.tries(office, sign(build.AccessKey)))
	require.EqualValues(t, 8, hanging.Load())
	close(answer)
	strangers.Wait()
	require.LessOrEqual(t, hanging.Load(), int64(20+8), "who waits is refused once the others failed")
}

func TestWhoLeavesBeforeTheAnswerIsChargedAndAnSTSThatIsAwayIsNot(t *testing.T) {
	var leave atomic.Pointer[context.CancelFunc] // while somebody asks who will not wait for the answer
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if goes := leave.Load(); goes != nil {
			(*goes)()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(sts.Close)
	d := newService(t, func(c *auth.AWSConfig) { c.Endpoints = []string{sts.URL} })
	sign := func() awsproof.Proof {
		cfg := d.config(build)
		cfg.BaseEndpoint = sdk.String(sts.URL)
		proof, err := awsproof.Sign(t.Context(), cfg, here)
		require.NoError(t, err)
		return proof
	}
	for range 30 {
		require.Equal(t, auth.Unavailable, d.tries(office, sign()))
	}
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		leave.Store(&cancel)
		_, err := d.Exchange.Exchange(ctx, office, sign())
		require.Error(t, err)
		cancel()
	}
	require.Equal(t, auth.TooOften, d.tries(office, sign()))
}

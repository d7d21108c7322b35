package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// from dials from a loopback address, which looks like another sender to the server.
func from(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 5 * time.Second}
}

// strangersAt are the addresses of strangers; GitHub and all honest senders use 127.0.0.1.
var strangersAt = []string{"127.0.0.66", "127.0.0.67", "127.0.0.68", "127.0.0.69"}

// hanging holds connections open that sent only the given bytes, until the returned function is called.
func (t *target) hanging(ctx context.Context, n int, sent string) (release func(), err error) {
	defer must.Catch(&err)
	at := must.Get(url.Parse(t.PublicURL()))
	var open []net.Conn
	release = func() {
		for _, c := range open {
			c.Close()
		}
	}
	for i := range n {
		conn, err := from(strangersAt[i%len(strangersAt)]).DialContext(ctx, "tcp", at.Host)
		if err != nil {
			break // the listener accepts no more, which is fine as long as signed webhooks arrive
		}
		open = append(open, conn)
		if _, err := io.WriteString(conn, sent); err != nil && !errors.Is(err, net.ErrClosed) {
			continue // the listener closed it
		}
	}
	must.FailIf(len(open) == 0, "no connection could be opened")
	return release, nil
}

// signedArrive sends signed webhooks one after the other and returns how many were lost, and how long the slowest took.
func (t *target) signedArrive(ctx context.Context, n int) (lost int, slowest time.Duration, err error) {
	body, err := ping()
	if err != nil {
		return 0, 0, err
	}
	for range n {
		began := time.Now()
		status, _, err := github.Post(ctx, t.hook(), "ping", github.GUID(), body)
		slowest = max(slowest, time.Since(began))
		if err != nil || status >= 300 {
			lost++
		}
	}
	return lost, slowest, ctx.Err()
}

// slowest is how long a signed webhook may take during an attack: GitHub waits ten seconds.
const slowest = 5 * time.Second

func arrived(what string, n, lost int, took time.Duration) (result, error) {
	if lost > 0 || took > slowest {
		return through("%s: %d of %d signed webhooks were refused or lost meanwhile, the slowest took %s", what, lost, n, took.Round(time.Millisecond))
	}
	return held("%s: %d signed webhooks taken meanwhile, the slowest in %s", what, n, took.Round(time.Millisecond))
}

func slowBodies(ctx context.Context, t *target) (result, error) {
	return t.whileHanging(ctx, "POST /webhooks/github HTTP/1.1\r\nHost: hooks\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n"+
		"X-Hub-Signature-256: sha256="+strings.Repeat("0", 64)+"\r\n\r\n{")
}

func slowHeaders(ctx context.Context, t *target) (result, error) {
	return t.whileHanging(ctx, "POST /webhooks/github HTTP/1.1\r\nHost: hooks\r\nX-Hub-Sig")
}

func (t *target) whileHanging(ctx context.Context, sent string) (result, error) {
	const connections, signed = 600, 20
	release := must.Get(t.hanging(ctx, connections, sent))
	defer release()
	lost, took := must.Get2(t.signedArrive(ctx, signed))
	return arrived(fmt.Sprintf("%d connections hung", connections), signed, lost, took)
}

// unsignedFlood sends unsigned webhooks from one address for a while and signed ones from another.
func unsignedFlood(ctx context.Context, t *target) (result, error) {
	const senders, signed = 8, 100
	flood, stop := context.WithCancel(ctx)
	defer stop()
	by := &http.Client{Transport: &http.Transport{DialContext: from(strangersAt[0]).DialContext, MaxIdleConnsPerHost: senders}, Timeout: 10 * time.Second}
	var sent atomic.Int64
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for flood.Err() == nil {
				r, err := http.NewRequestWithContext(flood, http.MethodPost, t.PublicURL()+"/webhooks/github", strings.NewReader("{}"))
				if err != nil {
					return
				}
				if _, err := send(by, r); err == nil {
					sent.Add(1)
				}
			}
		})
	}
	must.Do(await(ctx, "the flood", func(context.Context) (bool, error) { return sent.Load() > 4000, nil }))
	lost, took, err := t.signedArrive(ctx, signed)
	stop()
	all.Wait()
	must.Do(err)
	return arrived(fmt.Sprintf("%d unsigned webhooks", sent.Load()), signed, lost, took)
}

// garbageProofs sends proofs with keys that AWS does not know from three addresses, while the demo's program signs in from another.
func garbageProofs(ctx context.Context, t *target) (result, error) {
	const honest = 10
	flood, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	var sent atomic.Int64
	for _, address := range strangersAt[:3] {
		by := &http.Client{Transport: &http.Transport{DialContext: from(address).DialContext}, Timeout: 10 * time.Second}
		for range 4 {
			all.Go(func() {
				for flood.Err() == nil {
					if _, err := t.signIn(flood, by, "AKIANOBODY0000000000", "guessed"); err == nil {
						sent.Add(1)
					}
				}
			})
		}
	}
	must.Do(await(ctx, "the flood", func(context.Context) (bool, error) { return sent.Load() > 300, nil }))
	refused := 0
	var said answer
	for range honest {
		got := must.Get(t.signIn(ctx, plain, devstack.CLIKey, devstack.CLISecret))
		if got.status != http.StatusOK {
			refused, said = refused+1, got
		}
	}
	stop()
	all.Wait()
	if refused > 0 {
		return through("%d of %d sign-ins with good keys were refused while %d bad ones came: %d %.120s", refused, honest, sent.Load(), said.status, said.body)
	}
	return held("%d sign-ins with good keys while %d bad ones came", honest, sent.Load())
}

// signIn proves an AWS identity at the private listener.
func (t *target) signIn(ctx context.Context, by *http.Client, key, secret string) (answer, error) {
	proof, err := t.proof(ctx, key, secret)
	if err != nil {
		return answer{}, err
	}
	return t.exchange(ctx, by, proof)
}

func (t *target) proof(ctx context.Context, key, secret string) (awsproof.Proof, error) {
	return awsproof.Sign(ctx, awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String(t.AWS.URL()), Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""),
	}, t.PrivateURL())
}

package devstack

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

// Ports are the ports of the stack, all on 127.0.0.1.
type Ports struct {
	Private, Public, GitHub, Slack, S3, AWS, Postgres, OIDC, S3Behind, Status, SAML, GitHubBehind, IBMCloud, Login, Hub int
}

// choosePorts returns the documented ports counted from base, or free ones.
func choosePorts(base int) (Ports, error) {
	if base != 0 {
		p := Ports{Private: base, Public: base + 1, GitHub: base + 2, Slack: base + 3, S3: base + 4, AWS: base + 5, Postgres: base + 6, OIDC: base + 7, S3Behind: base + 8, Status: base + 9, SAML: base + 10, GitHubBehind: base + 11, IBMCloud: base + 12, Login: base + 13, Hub: base + 14}
		return p, p.free()
	}
	return freePorts()
}

// next is where this process begins its next search.
var next atomic.Int64

// FreePort finds a free port below the range from which the kernel takes local ports of connections (32768 and above): a free port in
// that range may be taken by any connection.
func FreePort() (int, error) {
	const lowest, highest = 12000, 32000
	for range highest - lowest {
		port := lowest + int((int64(os.Getpid())*137+next.Add(1))%(highest-lowest))
		if l, err := net.Listen("tcp", addr(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port between %d and %d", lowest, highest)
}

func freePorts() (p Ports, err error) {
	for _, port := range p.all() {
		if *port, err = FreePort(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// free reports the first port that is in use. PostgreSQL's is left to its launcher, which may find its own old server there.
func (p Ports) free() error {
	for _, port := range p.all() {
		if *port == p.Postgres {
			continue
		}
		l, err := net.Listen("tcp", addr(*port))
		if err != nil {
			return fmt.Errorf("port %d is taken (%w); stop what listens there, or move all ports with OCPCTL_DEMO_PORT, e.g. OCPCTL_DEMO_PORT=18080", *port, err)
		}
		l.Close()
	}
	return nil
}

func (p *Ports) all() []*int {
	return []*int{&p.Private, &p.Public, &p.GitHub, &p.Slack, &p.S3, &p.AWS, &p.Postgres, &p.OIDC, &p.S3Behind, &p.Status, &p.SAML, &p.GitHubBehind, &p.IBMCloud, &p.Login, &p.Hub}
}

func addr(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

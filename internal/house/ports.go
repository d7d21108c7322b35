package house

import (
	"fmt"
	"net"
)

// Ports are where the house listens, all on 127.0.0.1.
type Ports struct {
	Private, Public, GitHub, S3, AWS, Postgres, OIDC, S3Behind int
}

// choosePorts gives the documented ports counted from base, or free ones.
func choosePorts(base int) (Ports, error) {
	if base != 0 {
		p := Ports{Private: base, Public: base + 1, GitHub: base + 2, S3: base + 4, AWS: base + 5, Postgres: base + 6, OIDC: base + 7, S3Behind: base + 8}
		return p, p.free()
	}
	var p Ports
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for _, port := range p.all() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return p, err
		}
		held = append(held, l)
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}

// free reports the first port that somebody else holds. PostgreSQL's is left to its launcher, which may find its own old server there.
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
	return []*int{&p.Private, &p.Public, &p.GitHub, &p.S3, &p.AWS, &p.Postgres, &p.OIDC, &p.S3Behind}
}

func addr(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

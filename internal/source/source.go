// Package source finds the address that a request comes from, behind trusted proxies, and groups addresses for counting.
//
// It must never believe a header written by an untrusted peer.
package source

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Networks are networks of addresses.
type Networks []netip.Prefix

// Parse parses networks such as 10.0.0.0/8 or 2001:db8::/32; a single address is a network of one.
func Parse(texts []string) (Networks, error) {
	var out Networks
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, single := netip.ParseAddr(text)
			if single != nil {
				return nil, fmt.Errorf("%q is not a network; give CIDR notation such as 10.0.0.0/8, or one address", text)
			}
			network = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())
		}
		out = append(out, network.Masked())
	}
	return out, nil
}

// Contain reports whether an address is in one of the networks.
func (n Networks) Contain(address netip.Addr) bool {
	for _, network := range n {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// ForwardedFor is the header to which proxies append their client's address.
const ForwardedFor = "X-Forwarded-For"

// Address returns the address that a request comes from: the peer's, unless the peer is a trusted proxy. Then X-Forwarded-For is read
// from right to left, and the first address that is not a trusted proxy's counts; everything to its left was written by the sender.
// An entry that is not an address ends the search, and the proxy that wrote it counts.
func (n Networks) Address(r *http.Request) netip.Addr {
	address := Peer(r.RemoteAddr)
	var hops []string
	for _, line := range r.Header.Values(ForwardedFor) {
		hops = append(hops, strings.Split(line, ",")...)
	}
	for i := len(hops) - 1; i >= 0 && n.Contain(address); i-- {
		before := Peer(strings.TrimSpace(hops[i]))
		if !before.IsValid() {
			break
		}
		address = before
	}
	return address
}

// Peer parses an address, with or without a port; the zero address if it is invalid.
func Peer(text string) netip.Addr {
	if whole, err := netip.ParseAddrPort(text); err == nil {
		return unmapAddr(whole.Addr())
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		return netip.Addr{}
	}
	return unmapAddr(address)
}

func unmapAddr(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// ipv6Bits is the prefix of the smallest network of one customer: whoever has one IPv6 address has all of its /64.
const ipv6Bits = 64

// Group returns the key under which an address is counted: an IPv4 address itself, an IPv6 address's /64 network.
func Group(address netip.Addr) string {
	if !address.Is6() {
		return address.String()
	}
	return netip.PrefixFrom(address, ipv6Bits).Masked().String()
}

package source_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/source"
)

func TestTheAddressIsThePeersUnlessATrustedProxyNamesAnother(t *testing.T) {
	trusted, err := source.Parse([]string{"10.0.0.0/8", "192.0.2.7", "2001:db8:ffff::/48"})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":                              {"198.51.100.1:443", nil, "198.51.100.1"},
		"a header of an untrusted peer":         {"198.51.100.1:443", []string{"203.0.113.9"}, "198.51.100.1"},
		"one proxy":                             {"10.0.0.1:443", []string{"203.0.113.9"}, "203.0.113.9"},
		"what the sender wrote itself":          {"10.0.0.1:443", []string{"1.1.1.1, 203.0.113.9"}, "203.0.113.9"},
		"a trusted address the sender wrote":    {"10.0.0.1:443", []string{"10.9.9.9, 203.0.113.9"}, "203.0.113.9"},
		"two proxies":                           {"10.0.0.1:443", []string{"203.0.113.9, 192.0.2.7"}, "203.0.113.9"},
		"two proxies, a header each":            {"10.0.0.1:443", []string{"1.1.1.1, 203.0.113.9", "192.0.2.7"}, "203.0.113.9"},
		"all are proxies":                       {"10.0.0.1:443", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"a proxy that says nothing":             {"10.0.0.1:443", nil, "10.0.0.1"},
		"a proxy that writes a word":            {"10.0.0.1:443", []string{"203.0.113.9, unknown"}, "10.0.0.1"},
		"garbage left of the address":           {"10.0.0.1:443", []string{"x, ,, 203.0.113.9"}, "203.0.113.9"},
		"an address with a port":                {"10.0.0.1:443", []string{"203.0.113.9:5123"}, "203.0.113.9"},
		"an IPv6 address with a port":           {"10.0.0.1:443", []string{"[2001:db8::1]:5123"}, "2001:db8::1"},
		"an IPv6 address in brackets":           {"10.0.0.1:443", []string{"[2001:db8::1]"}, "2001:db8::1"},
		"an IPv4 address written as IPv6":       {"[::ffff:10.0.0.1]:443", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"an IPv6 proxy":                         {"[2001:db8:ffff::1]:443", []string{"203.0.113.9"}, "203.0.113.9"},
		"an IPv6 peer with a zone":              {"[fe80::1%eth0]:443", nil, "fe80::1"},
		"an IPv6 peer that is no trusted proxy": {"[2001:db8:fffe::1]:443", []string{"203.0.113.9"}, "2001:db8:fffe::1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{source.ForwardedFor: c.forwarded}}
			require.Equal(t, c.want, trusted.Address(r).String())
		})
	}
}

func TestIPv6AddressesAreCountedByTheir64(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.9": "203.0.113.9", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::9": "2001:db8:1:2::/64",
		"2001:db8:1:3::9": "2001:db8:1:3::/64",
	} {
		require.Equal(t, want, source.Group(netip.MustParseAddr(address)))
	}
	require.Equal(t, "invalid IP", source.Group(source.Peer("pipe")), "what has no address is counted together")
}

func TestNetworksAreReadStrictly(t *testing.T) {
	got, err := source.Parse([]string{"10.1.2.3/8", "::ffff:192.0.2.1"})
	require.NoError(t, err)
	require.Equal(t, source.Networks{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32")}, got)
	for _, bad := range []string{"", "ten", "10.0.0.0/33", "10.0.0.0/8/8", "host.example"} {
		_, err := source.Parse([]string{bad})
		require.ErrorContains(t, err, "CIDR notation", bad)
	}
}

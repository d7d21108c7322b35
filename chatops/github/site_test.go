package github

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheWebsiteFollowsFromTheAddressOfTheAPI(t *testing.T) {
	for api, want := range map[string]string{
		"https://api.github.com/": "https://github.com", "https://git.example.com/api/v3/": "https://git.example.com",
		"https://api.acme.ghe.com/": "https://acme.ghe.com", "http://127.0.0.1:8082": "http://127.0.0.1:8082", "": "", "%": "",
	} {
		require.Equal(t, want, Site(api), api)
	}
}

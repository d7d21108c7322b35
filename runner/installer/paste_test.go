package installer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
)

func TestWhatIsPastedStandsBesideWhatWasFrozen(t *testing.T) {
	raw, err := Paste("metadata: {name: shop}\ncredentialsMode: Mint\n", Pasted{PullSecret: secret.New(`{"auths":{}}`), SSHKey: "ssh-ed25519 AAAA\nssh-rsa BBBB", CredentialsMode: "Manual"})
	require.NoError(t, err)
	require.YAMLEq(t, "metadata: {name: shop}\ncredentialsMode: Manual\npullSecret: '{\"auths\":{}}'\nsshKey: \"ssh-ed25519 AAAA\\nssh-rsa BBBB\"\n", string(raw))
}

func TestWhatIsNotGivenIsNotPasted(t *testing.T) {
	raw, err := Paste("metadata: {name: shop}\ncredentialsMode: Mint\n", Pasted{})
	require.NoError(t, err)
	require.YAMLEq(t, "metadata: {name: shop}\ncredentialsMode: Mint\n", string(raw))
	for _, frozen := range []string{"", "- a list", "a: [b"} {
		_, err := Paste(frozen, Pasted{})
		require.Error(t, err, frozen)
	}
}

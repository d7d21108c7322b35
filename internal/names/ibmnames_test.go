package names_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/names"
)

func TestANameOnIBMCloudTellsItsInfraID(t *testing.T) {
	for name, want := range map[string]string{
		"shop-x7k2p": "shop-x7k2p", "shop-x7k2p-vpc": "shop-x7k2p", "kube-shop-x7k2p-0a1b2c": "shop-x7k2p", "shop-x7k2p-worker-1-2lbln": "shop-x7k2p",
		"shop-x7k2pq-vpc": "", "shop-vpc": "", "my-shop-x7k2p-vpc": "", "pvc-1": "", "": "", "kube-shop": "", "shop": "",
	} {
		require.Equal(t, want, ibmShop.InfraIDIn(name), name)
		require.Equal(t, want != "", names.HasInfraID(name, "shop-x7k2p"), name)
	}
	require.False(t, names.HasInfraID("shop-x7k2p-abcde-vpc", "shop-x7k2p-abcd"))
}

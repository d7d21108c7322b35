package app_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/profiles"
)

// steering are keys by which one cluster's teardown would find another's resources.
var steering = []string{
	tagkey.OpenShiftClusterID, "OPENSHIFTCLUSTERID", tagkey.ProviderCluster + "pr41-shop-x7k2p", tagkey.KubernetesCluster + "pr41-shop-x7k2p",
	tagkey.CloudCredential + "pr41-shop", "red-hat-managed", "openshift_creationDate", "ocpctl/cluster", "expirationDate", "clusterid",
}

func TestARequestMayNotChooseTagsThatSteerATeardown(t *testing.T) {
	for _, key := range steering {
		request := app.ReadCreateRequest(strings.NewReader(strings.Replace(whole, "RequestSource", key, 1)))
		require.Empty(t, request.Wrong)
		_, _, err := drafts(t).Draft(requester, request, time.Now())
		var refused *app.Error
		require.ErrorAs(t, err, &refused, key)
		require.Len(t, refused.Fields, 1, key)
		require.Equal(t, "extraTags", refused.Fields[0].Name)
	}
}

// The catalogue and a repository's own file hold no tags at all: there is no second way in.
func TestNoOtherDocumentCarriesTags(t *testing.T) {
	for _, field := range []string{"tags", "extraTags", "userTags"} {
		_, err := profiles.LoadRepositoryFile([]byte("version: 1\n" + field + ":\n  openshiftClusterID: x\n"))
		require.ErrorContains(t, err, field, "the repository's file")
		_, err = profiles.Load(fstest.MapFS{"teams/shop.yaml": {Data: []byte(
			"kind: Team\nname: shop\nowner: rob\ncostCenters: [a]\nenvironments: [test]\n" + field + ":\n  openshiftClusterID: x\n")}})
		require.ErrorContains(t, err, field, "a team")
	}
}

package count_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/count"
)

const (
	page    = "<html>404 Not Found</html>" // a router without a backend, and Kubernetes itself for a group that it does not have
	nobody  = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"namespaces \"shop-abcde\" not found","details":{"name":"shop-abcde","kind":"namespaces"}}`
	noGroup = `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps"}]}`
	empty   = `{"kind":"List","items":[]}`
)

func TestOnlyTheHubsOwnWordMakesANamespaceGone(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string // by the end of the path, instead of the usual ones
		left    []string
	}{
		"the hub says that it is gone":           {nil, nil},
		"a router's page":                        {map[string]string{"/namespaces/shop-abcde": page}, []string{"refused-query get namespaces shop-abcde"}},
		"another object is absent":               {map[string]string{"/namespaces/shop-abcde": strings.ReplaceAll(nobody, "shop-abcde", "shop-other")}, []string{"refused-query get namespaces shop-abcde"}},
		"a router's page for all lists":          {map[string]string{"/services": page, "/persistentvolumes": page}, []string{"refused-query list persistentvolumes shop-abcde", "refused-query list services shop-abcde"}},
		"a list that is none":                    {map[string]string{"/services": `{}`}, []string{"refused-query list services shop-abcde"}},
		"a router's page instead of the routes":  {map[string]string{"/apis": strings.Replace(noGroup, "apps", "route.openshift.io", 1)}, []string{"refused-query list routes shop-abcde"}},
		"a router's page instead of the groups":  {map[string]string{"/apis": page}, []string{"refused-query list routes shop-abcde"}},
		"the list still has what one call hides": {map[string]string{"/namespaces": `{"kind":"NamespaceList","items":[{"metadata":{"name":"shop-abcde"}}]}`}, []string{"namespace shop-abcde"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answers := map[string]string{
					"/namespaces/kube-system": `{"metadata":{"uid":"the-hub"}}`, "/namespaces/shop-abcde": nobody, "/apis": noGroup, "/routes": page,
					"/namespaces": empty, "/persistentvolumes": empty, "/services": empty, "/ingresses": empty,
				}
				said := ""
				for _, all := range []map[string]string{answers, c.answers} {
					for end, answer := range all {
						if strings.HasSuffix(r.URL.Path, end) {
							said = answer
						}
					}
				}
				if said == page || strings.Contains(said, "Status") {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = io.WriteString(w, said)
			}))
			t.Cleanup(server.Close)
			hub, err := api.New(server.URL, secret.New("token"), "")
			require.NoError(t, err)
			pass := count.Verify(t.Context(), hub, cloud.Target{Cluster: "clu_1", Account: "the-hub", Identities: []contract.Identity{{InfraID: "shop-abcde"}}})
			var left []string
			for _, l := range pass.Leftovers {
				left = append(left, l.Type+" "+l.ID)
			}
			require.Equal(t, c.left, left)
			require.Equal(t, c.left == nil, pass.Clean)
		})
	}
}

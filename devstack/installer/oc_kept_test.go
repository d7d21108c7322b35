package installer_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func (l *living) read(into any, args ...string) {
	l.t.Helper()
	out := l.oc(append([]string{"get"}, append(args, "-o", "json")...)...)
	require.Zero(l.t, out.Code, out.Stderr)
	require.NoError(l.t, json.Unmarshal([]byte(out.Stdout), into))
}

func TestRoutesConfigMapsAndNotificationsAreServedWithTheirContent(t *testing.T) {
	l := live(t, 0)
	for _, ns := range []string{"shop", "other"} {
		require.Zero(t, l.apply(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+ns+`"}}`).Code)
	}
	route := func(name, ns, more string) string {
		return `{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"` + name + `","namespace":"` + ns + `","labels":{"ocpctl/show":"true"}},"spec":{"to":{"kind":"Service","name":"web"}` + more + `}}`
	}
	for _, one := range []string{route("web", "shop", ""), route("taken", "other", `,"host":"web-shop.apps.shop.labs.example.com"`), route("outside", "other", `,"host":"login.example.com"`)} {
		out := l.apply(one)
		require.Zero(t, out.Code, out.Stderr)
	}
	var routes struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				Ingress []struct {
					Host       string
					Conditions []struct{ Type, Status, Reason string }
				}
			}
		}
	}
	l.read(&routes, "routes.route.openshift.io", "-A", "-l", "ocpctl/show=true")
	admitted := map[string]string{}
	for _, r := range routes.Items {
		admitted[r.Metadata.Name] = r.Status.Ingress[0].Host + " " + r.Status.Ingress[0].Conditions[0].Status
	}
	require.Equal(t, map[string]string{"web": "web-shop.apps.shop.labs.example.com True", "taken": "web-shop.apps.shop.labs.example.com False", "outside": "login.example.com True"}, admitted)
	l.read(&routes, "routes", "-n", "shop")
	require.Len(t, routes.Items, 1)
	l.read(&routes, "routes", "-A", "-l", "ocpctl/show=false")
	require.Empty(t, routes.Items)
	require.Zero(t, l.oc("delete", "route", "web", "-n", "shop").Code)
	require.Contains(t, l.oc("get", "routes", "web", "-n", "shop", "-o", "json").Stderr, "(NotFound)")

	var info struct{ Data map[string]string }
	require.Zero(t, l.apply(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"},"data":{"owner":"Maya"}}`).Code)
	l.read(&info, "configmap", "a", "-n", "shop")
	require.Equal(t, map[string]string{"owner": "Maya"}, info.Data)

	notification := func(spec string) string {
		return `{"apiVersion":"console.openshift.io/v1","kind":"ConsoleNotification","metadata":{"name":"a"},"spec":` + spec + `}`
	}
	for spec, refused := range map[string]string{
		`{}`: "spec.text: Required value", `{"text":"a","location":"Top"}`: "spec.location", `{"text":"a","link":{"href":"http://a","text":"b"}}`: "should match '^https://'",
	} {
		require.Contains(t, l.apply(notification(spec)).Stderr, refused)
	}
	require.Zero(t, l.apply(notification(`{"text":"a","location":"BannerTop","link":{"href":"https://a","text":"b"}}`)).Code)
	require.Equal(t, "consolenotifications.console.openshift.io\n", l.oc("get", "crd", "consolenotifications.console.openshift.io", "--ignore-not-found", "-o", `go-template={{.metadata.name}}{{"\n"}}`).Stdout)
	require.Empty(t, l.oc("get", "crd", "nothing.example.com", "--ignore-not-found", "-o", "json").Stdout)
}

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/runner/card"
)

// runInform writes the cluster's identity card, and reads which of its Routes are to be shown. Nil: it was not to look for any.
func (a *attempt) runInform(ctx context.Context) (links *[]contract.Link, err error) {
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.KubeconfigRef) }},
		{"informing", 30, "writing the identity card, and reading the links", func(ctx context.Context) (err error) {
			if err := a.writeCard(ctx); err != nil || a.spec.RouteLabel == "" {
				return err
			}
			links, err = a.readLinks(ctx)
			return err
		}},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return nil, err
		}
	}
	return links, nil
}

func (a *attempt) writeCard(ctx context.Context) error {
	if a.spec.Card == nil {
		return nil
	}
	info, err := card.Info(a.spec.Name, *a.spec.Card)
	if err != nil {
		return err
	}
	banner, err := card.Banner(a.spec.Name, *a.spec.Card)
	if err != nil {
		return err
	}
	hasConsole := false
	err = a.askForCard(ctx, func() error { return a.applyCard(ctx, info) })
	if err == nil {
		err = a.askForCard(ctx, func() error {
			return a.listenToCluster(ctx, func(line string) { hasConsole = hasConsole || line == card.Definition },
				"get", "customresourcedefinitions.apiextensions.k8s.io", card.Definition, "--ignore-not-found", "-o", "go-template={{.metadata.name}}{{\"\\n\"}}")
		})
	}
	if err == nil && hasConsole {
		err = a.askForCard(ctx, func() error { return a.applyCard(ctx, banner) })
	}
	return a.noCard(ctx, "CardRefused", "its identity card could not be written", "oc get configmap "+card.Name+" -n "+card.Namespace, err)
}

func (a *attempt) applyCard(ctx context.Context, objects []byte) error {
	return a.runOC(ctx, objects, "apply", "--server-side", "--force-conflicts", "--field-manager=ocpctl", "-f", "-")
}

func (a *attempt) askForCard(ctx context.Context, ask func() error) error {
	return a.retryUntil(ctx, time.Now().Add(a.cfg.Timings.Reach), ask)
}

// noCard returns why the cluster could not be asked something; nil: it could.
func (a *attempt) noCard(ctx context.Context, reason, what, command string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return failure{
			Reason: reason, Whose: contract.WhoseCloud, Retryable: !errors.Is(err, errRefusedByOC),
			Message: fmt.Sprintf("%s: %v", what, err),
			Next:    "check that the cluster's API answers: " + command,
		}
	}
	return nil
}

// titleAnnotation is the annotation of a Route with the title of its link.
const titleAnnotation = "ocpctl/title"

// routesTemplate prints a line for each address at which a router admitted a Route (route.openshift.io/v1). The whole object may hold the key of a
// certificate, which is not to be read.
const routesTemplate = `{{range .items}}{{$route := .}}{{$title := ""}}{{with .metadata.annotations}}{{with index . "` + titleAnnotation + `"}}{{$title = .}}{{end}}{{end}}` +
	`{{$scheme := "http"}}{{with .spec.tls}}{{$scheme = "https"}}{{end}}{{$path := or .spec.path ""}}{{with .status}}{{range .ingress}}{{$host := or .host ""}}{{range .conditions}}` +
	`{{if and (eq (print .type) "Admitted") (eq (print .status) "True")}}` +
	`{{printf "%q %q %q %q %q %q" $route.metadata.namespace $route.metadata.name $scheme $host $path $title}}{{"\n"}}` +
	`{{end}}{{end}}{{end}}{{end}}{{end}}`

// mostRoutes limits how many are read: a user of the cluster may make any number.
const mostRoutes = 1000

type route struct {
	namespace, name string
	link            contract.Link
}

// readLinks returns the addresses of the Routes with the label, ordered by namespace and name, and each once.
func (a *attempt) readLinks(ctx context.Context) (*[]contract.Link, error) {
	var all []route
	err := a.askForCard(ctx, func() error {
		all = nil
		return a.listenToCluster(ctx, func(line string) {
			if found, ok := a.readRoute(line); ok && len(all) < mostRoutes {
				all = append(all, found)
			}
		}, "get", "routes.route.openshift.io", "-A", "-l", a.spec.RouteLabel, "-o", "go-template="+routesTemplate)
	})
	if err := a.noCard(ctx, "LinksUnknown", "the cluster's Routes could not be read", "oc get routes -A -l "+a.spec.RouteLabel, err); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b route) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name), strings.Compare(a.link.URL, b.link.URL))
	})
	links := []contract.Link{}
	for _, r := range all {
		known := slices.ContainsFunc(links, func(l contract.Link) bool { return l.URL == r.link.URL })
		if !known && len(links) < names.MaxLinks {
			links = append(links, r.link)
		}
	}
	return &links, nil
}

// readRoute reads a line of routesTemplate. What is no address of this cluster's apps is no link; other lines are oc's warnings.
func (a *attempt) readRoute(line string) (route, bool) {
	var r route
	var scheme, host, path, title string
	if _, err := fmt.Sscanf(line, "%q %q %q %q %q %q", &r.namespace, &r.name, &scheme, &host, &path, &title); err != nil {
		return route{}, false
	}
	r.link = contract.Link{Title: names.LinkTitle(title), URL: (&url.URL{Scheme: scheme, Host: host, Path: path}).String()}
	return r, a.nameScope().CheckAppURL(r.link.URL) == nil
}

// formatLinks says what was done, for the attempt's message.
func formatLinks(links *[]contract.Link) string {
	const written = "its identity card is up to date"
	switch {
	case links == nil:
		return written
	case len(*links) == 1:
		return written + ", and 1 link was found"
	}
	return fmt.Sprintf("%s, and %d links were found", written, len(*links))
}

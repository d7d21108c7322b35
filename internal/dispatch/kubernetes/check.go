package kubernetes

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// kinds are the kinds of attempt by which some settings are given.
var kinds = []string{"create", "destroy", "scale", "configure", "access", "sleep", "wake", "observe", "tag", "inform", "prepare", dispatch.KindScan, dispatch.KindProve}

// Check returns everything that is wrong, each with its field in the section runner.kubernetes and what would be accepted.
func (s Settings) Check() []error {
	var bad []error
	wrong := func(field, format string, args ...any) {
		bad = append(bad, fmt.Errorf("runner.kubernetes.%s %s", field, fmt.Sprintf(format, args...)))
	}
	if len(validation.IsDNS1123Label(s.Namespace)) > 0 {
		wrong("namespace", "is %q; give the namespace in which runners run, e.g. ocpctl-runners", s.Namespace)
	}
	if s.Image == "" || strings.ContainsAny(s.Image, " \t\n") {
		wrong("image", "is %q; give the runner's image, best by digest", s.Image)
	}
	s.checkNames(wrong)
	s.checkResources(wrong)
	s.checkLabels(wrong)
	s.checkTimes(wrong)
	return bad
}

type report func(field, format string, args ...any)

func (s Settings) checkNames(wrong report) {
	name := func(field, value string, optional bool) {
		if (value != "" || !optional) && len(validation.IsDNS1123Subdomain(value)) > 0 {
			wrong(field, "is %q; give the name of an object in the runners' namespace: lowercase letters, digits and dashes", value)
		}
	}
	a := s.ServiceAccounts
	name("service_accounts.create", a.Create, false)
	name("service_accounts.destroy", a.Destroy, false)
	name("service_accounts.scale", a.Scale, true)
	name("service_accounts.configure", a.Configure, true)
	name("service_accounts.access", a.Access, true)
	name("service_accounts.scan", a.Scan, true)
	name("image_cache_claim", s.ImageCacheClaim, true)
	for i, secret := range s.ImagePullSecrets {
		name(fmt.Sprintf("image_pull_secrets[%d]", i), secret, false)
	}
	for i, m := range s.Mounts {
		field := fmt.Sprintf("mounts[%d]", i)
		if (m.Secret == "") == (m.ConfigMap == "") {
			wrong(field, "names the secret %q and the config map %q; give one of them", m.Secret, m.ConfigMap)
		}
		name(field, m.Secret+m.ConfigMap, true)
		taken := func(dir string) bool { return m.Path == dir || strings.HasPrefix(m.Path, dir+"/") }
		if !path.IsAbs(m.Path) || path.Clean(m.Path) != m.Path || m.Path == "/" || slices.ContainsFunc([]string{tokenDir, WorkDir, tempDir, cacheDir, Installers, "/usr"}, taken) {
			wrong(field+".path", "is %q; give an absolute path outside %s, %s, %s, %s, %s and /usr, e.g. /run/secrets/ocpctl", m.Path, tokenDir, WorkDir, tempDir, cacheDir, Installers)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(s.PriorityClasses)) {
		name("priority_classes."+kind, s.PriorityClasses[kind], false)
	}
	for field, keys := range map[string][]string{"priority_classes": slices.Sorted(maps.Keys(s.PriorityClasses)), "deadlines": slices.Sorted(maps.Keys(s.Deadlines))} {
		for _, kind := range keys {
			if !slices.Contains(kinds, kind) {
				wrong(field, "has %q; give one of %s", kind, strings.Join(kinds, ", "))
			}
		}
	}
}

func (s Settings) checkResources(wrong report) {
	quantity := func(field, value string) {
		if q, err := resource.ParseQuantity(value); err != nil || q.Sign() <= 0 {
			wrong(field, "is %q; give an amount above zero, e.g. 500m for cpu and 4Gi for memory or storage", value)
		}
	}
	for _, size := range []struct{ field, value string }{{"work_size", s.WorkSize}, {"temp_size", s.TempSize}} {
		if size.value != "" {
			quantity(size.field, size.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Resources)) {
		r := s.Resources[name]
		for field, list := range map[string]map[string]string{"requests": r.Requests, "limits": r.Limits} {
			for _, what := range slices.Sorted(maps.Keys(list)) {
				at := fmt.Sprintf("resources.%s.%s", name, field)
				if what != "cpu" && what != "memory" && what != "ephemeral-storage" {
					wrong(at, "has %q; give cpu, memory or ephemeral-storage", what)
					continue
				}
				quantity(at+"."+what, list[what])
			}
		}
	}
}

func (s Settings) checkLabels(wrong report) {
	for field, labels := range map[string]map[string]string{"labels": s.Labels, "node_selector": s.NodeSelector, "annotations": s.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			switch {
			case len(validation.IsQualifiedName(key)) > 0:
				wrong(field, "has the key %q; give a name with an optional prefix, e.g. example.com/team", key)
			case field != "annotations" && len(validation.IsValidLabelValue(labels[key])) > 0:
				wrong(field+"."+key, "is %q; give at most 63 letters, digits, dashes, dots and underscores", labels[key])
			case field == "labels" && (strings.HasPrefix(key, "ocpctl/") || strings.HasPrefix(key, "app.kubernetes.io/")):
				wrong(field, "has the key %q; the prefixes ocpctl/ and app.kubernetes.io/ are set by the server", key)
			}
		}
	}
	for i, t := range s.Tolerations {
		field := fmt.Sprintf("tolerations[%d]", i)
		if !slices.Contains([]string{"", "Exists", "Equal"}, t.Operator) || t.Operator == "Exists" && t.Value != "" {
			wrong(field+".operator", "is %q with the value %q; give Exists without a value, or Equal", t.Operator, t.Value)
		}
		if !slices.Contains([]string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, t.Effect) {
			wrong(field+".effect", "is %q; give NoSchedule, PreferNoSchedule or NoExecute, or omit it", t.Effect)
		}
		if t.Key == "" && t.Operator != "Exists" {
			wrong(field+".key", "is empty; give the taint's key, or the operator Exists for all taints")
		}
	}
}

func (s Settings) checkTimes(wrong report) {
	least := func(field string, value, least time.Duration) {
		if value != 0 && value < least {
			wrong(field, "is %s; give %s or more, or omit it", duration.Typed(value), duration.Typed(least))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Deadlines)) {
		least("deadlines."+kind, s.Deadlines[kind], LeastDeadline)
	}
	least("termination_grace", s.TerminationGrace, LeastGrace)
	least("keep", s.Keep, 2*time.Hour)
}

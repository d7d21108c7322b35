package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/internal/names"
)

// addonObject is an object of an add-on, as far as the install has to know it.
type addonObject struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		SecretRef    struct{ Namespace string }
		ProviderSpec struct{ Kind string }
	}
	raw json.RawMessage
}

// requestKinds are the kinds of what operators request of a cloud (openshift/api cloudcredential/v1).
var requestKinds = map[string]string{names.AWS: "AWSProviderSpec", names.IBMCloud: "IBMCloudProviderSpec"}

// findAddonRequests returns the CredentialsRequests of the add-ons for the cluster's cloud, and the add-ons' namespaces.
func (a *attempt) findAddonRequests() (requests []addonObject, namespaces map[string]json.RawMessage, err error) {
	namespaces = map[string]json.RawMessage{}
	for _, addon := range a.spec.Addons {
		var list struct{ Items []json.RawMessage }
		if err := json.Unmarshal([]byte(addon.Manifests), &list); err != nil {
			return nil, nil, fmt.Errorf("read the objects of the add-on %s: %w", addon.Name, err)
		}
		for _, raw := range list.Items {
			one := addonObject{raw: raw}
			if json.Unmarshal(raw, &one) != nil {
				continue // it has nothing in the place of what is looked for
			}
			switch {
			case one.Kind == "Namespace":
				namespaces[one.Metadata.Name] = raw
			case one.Kind == "CredentialsRequest" && one.Spec.ProviderSpec.Kind == requestKinds[a.spec.Platform]:
				requests = append(requests, one)
			}
		}
	}
	return requests, namespaces, nil
}

// addonFile begins the names of the files below that come from add-ons.
const addonFile = "ocpctl-addon-"

// writeAddonRequests adds what add-ons request of the cloud to what the release's operators do: with credentialsMode Manual, nothing in the cluster makes
// credentials.
func (a *attempt) writeAddonRequests() error {
	requests, _, err := a.findAddonRequests()
	if err != nil {
		return err
	}
	for n, one := range requests {
		if err := os.WriteFile(filepath.Join(a.ccoDir("credentials-requests"), fmt.Sprintf("%s%d.yaml", addonFile, n)), one.raw, 0o600); err != nil {
			return fmt.Errorf("write what an add-on requests of the cloud: %w", err)
		}
	}
	return nil
}

// writeAddonNamespaces adds the namespaces of those credentials to the install: the installer's bootstrap applies the Secrets that ccoctl wrote, and
// does not end before all are there.
func (a *attempt) writeAddonNamespaces() error {
	requests, namespaces, err := a.findAddonRequests()
	if err != nil {
		return err
	}
	for _, one := range requests {
		name := one.Spec.SecretRef.Namespace
		raw, there := namespaces[name]
		if !there || strings.ContainsAny(name, "/.") {
			continue // a namespace of the platform
		}
		if err := os.WriteFile(filepath.Join(a.dir, "manifests", addonFile+"namespace-"+name+".yaml"), raw, 0o600); err != nil {
			return fmt.Errorf("write a namespace for what an add-on requests of the cloud: %w", err)
		}
	}
	return nil
}

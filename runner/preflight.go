package runner

import (
	"context"
	"strings"

	"go.yaml.in/yaml/v3"
)

// preflight compares the account and asks what stands in the way. Only a proven shortfall ends the attempt; everything
// else is said in the log and the install goes on.
func (a *attempt) preflight(ctx context.Context) error {
	if err := a.needTool(); err != nil {
		return err
	}
	if err := a.compareAccount(ctx); err != nil {
		return err
	}
	problems, err := a.cloud.Preflight(ctx, a.target(), a.spec.Zones, instanceTypes(a.spec.InstallConfig))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a.note("preflight could not be finished: %v", err)
	}
	var words []string
	reason := ""
	for _, p := range problems {
		a.note("preflight: %s: %s; %s", p.Code, p.Words, p.Next)
		if p.Block {
			words = append(words, p.Words+"; "+p.Next)
			if reason == "" {
				reason = p.Code
			}
		}
	}
	if reason != "" {
		return failure{Reason: reason, Message: strings.Join(words, ". ")}
	}
	return nil
}

// claiming is for names that live outside the installer. With credentials minted by the cluster itself there are none.
func (a *attempt) claiming(context.Context) error { return nil }

// instanceTypes reads from an install-config which machines it asks for.
func instanceTypes(config string) []string {
	type pool struct {
		Platform struct {
			AWS struct {
				Type string `yaml:"type"`
			} `yaml:"aws"`
		} `yaml:"platform"`
		Replicas *int `yaml:"replicas"`
	}
	var parsed struct {
		ControlPlane pool   `yaml:"controlPlane"`
		Compute      []pool `yaml:"compute"`
	}
	if yaml.Unmarshal([]byte(config), &parsed) != nil {
		return nil // rendering will say what is wrong with it
	}
	seen, types := map[string]bool{"": true}, []string(nil)
	for _, each := range append([]pool{parsed.ControlPlane}, parsed.Compute...) {
		if name := each.Platform.AWS.Type; !seen[name] && (each.Replicas == nil || *each.Replicas > 0) {
			seen[name] = true
			types = append(types, name)
		}
	}
	return types
}

package aws

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

var secretCalls = map[string]handler{
	"CreateSecret": createSecret, "DescribeSecret": describeSecret, "ListSecrets": listSecrets, "DeleteSecret": deleteSecret, "RestoreSecret": restoreSecret,
	"GetSecretValue": getSecretValue, "PutSecretValue": putSecretValue, "UpdateSecret": putSecretValue,
	"TagResource": tagSecret, "UntagResource": untagSecret,
}

type secretInput struct {
	SecretId, Name, Description, ClientRequestToken string
	SecretString                                    *string
	SecretBinary                                    []byte
	VersionId, VersionStage                         string
	ForceDeleteWithoutRecovery                      bool
	RecoveryWindowInDays                            int
	Tags                                            []struct{ Key, Value string }
	TagKeys                                         []string
	Filters                                         []struct {
		Key    string
		Values []string
	}
	IncludePlannedDeletion bool
	NextToken              string
	MaxResults             int
}

// A secret's values are in Secrets by version id, with the prefix "s" (string) or "b" (base64), and its two stages in Attrs.
const current, previous = "AWSCURRENT", "AWSPREVIOUS"

// KeepSecret puts a secret into the first region as part of the initial world: it is never a leftover. The value is only in the state
// file and in responses to callers who may read it. An existing secret with that name gets a new version.
func (s *Server) KeepSecret(name, value string) error {
	return s.change(func(w *world) {
		r := w.First(func(r *Resource) bool {
			return r.Service == "secretsmanager" && r.Name == name && r.Account == w.Account
		})
		if r == nil {
			r = w.secret(s.cfg.Regions[0], name)
		}
		r.Stands = true
		if r.Secrets[r.Attrs[current]] != "s"+value {
			r.keep("", "s"+value)
		}
	})
}

func (w *world) secret(region, name string) *Resource {
	suffix := newUpper("", 6)
	return w.Add(&Resource{Service: "secretsmanager", Type: "secret", Name: name, Region: region, Secrets: map[string]string{},
		ID: "arn:aws:secretsmanager:" + region + ":" + w.Account + ":secret:" + name + "-" + suffix})
}

// keep makes the value the current version and drops all but the previous one.
func (r *Resource) keep(version, value string) {
	version = cmp.Or(version, newRequestID())
	old := r.Attrs[current]
	if old != version {
		r.Attrs[previous] = old
	}
	r.Attrs[current] = version
	r.Secrets[version] = value
	for id := range r.Secrets {
		if id != r.Attrs[current] && id != r.Attrs[previous] {
			delete(r.Secrets, id)
		}
	}
}

func (in secretInput) value() (string, bool) {
	switch {
	case in.SecretString != nil:
		return "s" + *in.SecretString, true
	case in.SecretBinary != nil:
		return "b" + base64.StdEncoding.EncodeToString(in.SecretBinary), true
	}
	return "", false
}

func (c *call) isSecret(r *Resource) bool {
	return r.Service == "secretsmanager" && r.Type == "secret" && r.Account == c.Account && r.Region == c.region
}

// secretAsked reads a call about one secret, given by name, ARN, or ARN without its random suffix.
func (c *call) secretAsked() (*Resource, secretInput, error) {
	var in secretInput
	if err := c.decode(&in); err != nil {
		return nil, in, err
	}
	r := c.First(func(r *Resource) bool {
		return c.isSecret(r) && (r.Name == in.SecretId || r.ID == in.SecretId || r.ID[:strings.LastIndex(r.ID, "-")] == in.SecretId)
	})
	if r == nil {
		return nil, in, fault("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	}
	if r.Next != "" && c.action != "RestoreSecret" && c.action != "DescribeSecret" {
		return nil, in, fault("InvalidRequestException", "You can't perform this operation on the secret because it was marked for deletion.")
	}
	return r, in, nil
}

func createSecret(c *call) ([]node, error) {
	var in secretInput
	must.Do(c.decode(&in))
	if in.Name == "" {
		return nil, fault("InvalidParameterException", "You must provide a name for the secret.")
	}
	if c.First(func(r *Resource) bool { return c.isSecret(r) && r.Name == in.Name }) != nil {
		return nil, fault("ResourceExistsException", "The operation failed because the secret %s already exists.", in.Name)
	}
	r := c.world.secret(c.region, in.Name)
	r.Attrs["description"] = in.Description
	for _, t := range in.Tags {
		r.Tags[t.Key] = t.Value
	}
	out := map[string]any{"ARN": r.ID, "Name": r.Name}
	if value, given := in.value(); given {
		r.keep(in.ClientRequestToken, value)
		out["VersionId"] = r.Attrs[current]
	}
	c.json = out
	return nil, nil
}

func putSecretValue(c *call) ([]node, error) {
	r, in := must.Get2(c.secretAsked())
	value, given := in.value()
	if old, known := r.Secrets[in.ClientRequestToken]; known && old != value {
		return nil, fault("ResourceExistsException", "You can't use ClientRequestToken %s because that value is already in use for a version of secret %s.", in.ClientRequestToken, r.ID)
	}
	r.Attrs["description"] = cmp.Or(in.Description, r.Attrs["description"])
	if given {
		r.keep(in.ClientRequestToken, value)
	} else if c.action == "PutSecretValue" {
		return nil, fault("InvalidRequestException", "You must provide either SecretString or SecretBinary.")
	}
	c.json = map[string]any{"ARN": r.ID, "Name": r.Name, "VersionId": r.Attrs[current], "VersionStages": []string{current}}
	return nil, nil
}

func getSecretValue(c *call) ([]node, error) {
	r, in := must.Get2(c.secretAsked())
	version := cmp.Or(in.VersionId, r.Attrs[cmp.Or(in.VersionStage, current)])
	value, known := r.Secrets[version]
	if !known {
		return nil, fault("ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label: %s", cmp.Or(in.VersionStage, current))
	}
	out := map[string]any{"ARN": r.ID, "Name": r.Name, "VersionId": version, "VersionStages": r.stages(version), "CreatedDate": seconds(r.Created)}
	if text, ok := strings.CutPrefix(value, "s"); ok {
		out["SecretString"] = text
	} else {
		out["SecretBinary"] = value[1:]
	}
	c.json = out
	return nil, nil
}

func (r *Resource) stages(version string) []string {
	return slices.DeleteFunc([]string{current, previous}, func(stage string) bool { return r.Attrs[stage] != version })
}

// seconds returns a time in the JSON protocols' form.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/profiles"
)

// A generated request asks for anything a profile gives: names up to the longest, every region, version and base domain,
// as many tags as there is room for, of every character they may have.
func generated(p profiles.Profile) *rapid.Generator[Request] {
	return rapid.Custom(func(t *rapid.T) Request {
		r := validRequest()
		r.Source, r.Permission, r.Principal, r.Profile = "api", "", As("x", "maya", PlatformAdmin), p.Name
		r.Region = rapid.SampledFrom(append(p.RegionNames(), "")).Draw(t, "region")
		r.Version = rapid.SampledFrom(append(p.Versions.Allow, "")).Draw(t, "version")
		r.BaseDomain = rapid.SampledFrom(append(p.BaseDomains.Allow, "")).Draw(t, "base domain")
		r.TTL = time.Duration(rapid.Int64Range(0, int64(p.MaxTTL)).Draw(t, "ttl"))
		r.Generation = rapid.IntRange(1, 50).Draw(t, "generation")
		if rapid.Bool().Draw(t, "from a pull request") {
			r.PR.Repo = "acme/" + rapid.StringMatching(`[A-Za-z0-9._-]{1,60}`).Draw(t, "repo")
			r.PR.Number = rapid.IntRange(1, 999_999).Draw(t, "number")
		} else {
			r.PR, r.Name = nil, rapid.StringMatching(`[a-z]([-a-z0-9]{0,19}[a-z0-9])?`).Draw(t, "name")
		}
		word := rapid.StringMatching(`[0-9A-Za-z_.:/=+@-]([0-9A-Za-z_.:/=+@ -]{0,60}[0-9A-Za-z_.:/=+@-])?`)
		r.Ownership.Owner, r.Ownership.CostCenter, r.Ownership.Environment = word.Draw(t, "owner"), word.Draw(t, "cost center"), word.Draw(t, "environment")
		value := rapid.OneOf(word, rapid.Just(strings.Repeat("v", 256)), rapid.SampledFrom([]string{"true", "no", "1", "0x1f", "2025-01-01", "null", "1e3", "= x"}))
		r.Tags = map[string]string{}
		if p.Platform == "ibmcloud" { // where a tag is one string with fewer characters
			word = rapid.StringMatching(`[0-9A-Za-z_.-]([0-9A-Za-z_. -]{0,60}[0-9A-Za-z_.-])?`)
			value = rapid.StringMatching(`[0-9A-Za-z_.:-]([0-9A-Za-z_.: -]{0,57}[0-9A-Za-z_.:-])?`)
		}
		for i := range rapid.IntRange(0, profiles.MaxTags-ourTags).Draw(t, "tags") {
			r.Tags[fmt.Sprintf("k%d.%s", i, word.Draw(t, "key"))] = value.Draw(t, "value")
		}
		return r
	})
}

func TestEveryProfileRendersStrictlyValidForTwoHundredRequests(t *testing.T) {
	all := Terms{Catalogue: embedded(t, profiles.WhenFullRefuse), Now: noon}
	for _, p := range all.Catalogue.All() {
		require.True(t, p.Enabled, p.Name)
		t.Run(p.Name, func(t *testing.T) {
			requests, names := generated(p), map[string]bool{}
			var configs profiles.InstallConfigs
			for seed := range 200 {
				r := requests.Example(seed)
				v := Evaluate(r, Usage{}, all, Settings{})
				require.True(t, v.Allowed, "seed %d: %v", seed, v.Refusals())
				tags := EffectiveTags(r, v.Grant, "clu_1", "job_1", time.Unix(1_735_732_800, 0), "test")
				in := profiles.InstallInput{Name: v.Grant.Name, BaseDomain: v.Grant.BaseDomain, Region: v.Grant.Region,
					Version: v.Grant.Version, Zones: v.Grant.Zones, Tags: tags}
				out, err := p.InstallConfig(in)
				require.NoError(t, err, "seed %d", seed)
				filled, err := configs.Render("hash", p, in)
				require.NoError(t, err, "seed %d", seed)
				require.Equal(t, string(out), string(filled), "seed %d", seed)
				require.NoError(t, profiles.Strict(out), "seed %d", seed)
				requireTags(t, p.Platform, out, tags)
				names[v.Grant.Name] = true
			}
			require.Greater(t, len(names), 150, "the requests differ")
		})
	}
}

// requireTags reads the tags back: a value such as "true" stays the text it was. An install-config of IBM Cloud has none, and each can be
// attached later, under a key of its own.
func requireTags(t *testing.T, platform string, config []byte, want map[string]string) {
	t.Helper()
	if platform == "ibmcloud" {
		keys := map[string]bool{}
		for key, value := range want {
			stored, _, _ := strings.Cut(tagkey.IBM(key, value), ":")
			require.Equal(t, strings.ToLower(key), stored)
			keys[stored] = true
		}
		require.Len(t, keys, len(want))
		require.NotContains(t, string(config), "Tags")
		return
	}
	var c struct {
		Platform struct {
			AWS struct {
				UserTags map[string]any `yaml:"userTags"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(config, &c))
	require.Len(t, c.Platform.AWS.UserTags, len(want))
	for key, value := range want {
		require.Equal(t, any(value), c.Platform.AWS.UserTags[key], key)
	}
}

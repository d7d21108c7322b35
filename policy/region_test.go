package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestAFallbackTakesThePlaceOfARegionThatGetsNoNewCluster(t *testing.T) {
	freeze := func(account, region string) lifecycle.Brake {
		return lifecycle.Brake{ID: "frz_" + account + region, Kind: lifecycle.Freeze, Where: lifecycle.Place{Account: account, Region: region}, By: "Will", Since: noon, Until: noon.Add(time.Hour)}
	}
	room := func(n int) AccountUsage {
		return AccountUsage{Fits: map[AccountRegion]int{{Number: "1", Region: "us-east-1", Profile: "aws-standard"}: n}}
	}
	const frozen = "us-east-1 gets no new cluster now (Will froze new clusters in the region us-east-1 from 12:00 UTC on 15 January until 13:00 UTC on 15 January)"
	for name, c := range map[string]struct {
		brakes   []lifecycle.Brake
		used     AccountUsage
		accounts []profiles.Account
		change   func(*Request)
		region   string
		says     string
	}{
		"nothing keeps it":          {region: "us-east-1", says: "us-east-1"},
		"a freeze":                  {brakes: []lifecycle.Brake{freeze("", "us-east-1")}, region: "us-east-2", says: frozen + ", so it is made in us-east-2. To wait for us-east-1, name it as the region."},
		"of the own account":        {brakes: []lifecycle.Brake{freeze("1", "us-east-1")}, region: "us-east-2", says: "in the account 1 in the region us-east-1"},
		"of another account":        {brakes: []lifecycle.Brake{freeze("2", "us-east-1")}, region: "us-east-1", says: "us-east-1"},
		"two of them":               {brakes: []lifecycle.Brake{freeze("", "us-east-1"), freeze("", "us-east-2")}, region: "us-west-2", says: "; us-east-2 gets no new cluster now"},
		"all of them: it waits":     {brakes: []lifecycle.Brake{freeze("", "")}, region: "us-east-1", says: "us-east-1"},
		"no room":                   {used: room(0), region: "us-east-2", says: "us-east-1 gets no new cluster now (no room for another, as last measured), so it is made in us-east-2."},
		"room":                      {used: room(1), region: "us-east-1", says: "us-east-1"},
		"a named region waits":      {brakes: []lifecycle.Brake{freeze("", "us-east-1")}, change: func(r *Request) { r.Region = "us-east-1" }, region: "us-east-1", says: "us-east-1"},
		"an account that is braked": {brakes: []lifecycle.Brake{freeze("2", "us-east-1")}, accounts: []profiles.Account{{Name: "two", Number: "2", Cap: 5}, {Name: "three", Number: "3"}}, region: "us-east-1", says: "us-east-1"},
		"accounts of no region":     {accounts: []profiles.Account{{Name: "two", Number: "2", Regions: []string{"us-west-2"}}}, region: "us-west-2", says: "us-east-1 gets no new cluster now (not for us-east-1); us-east-2 gets no new cluster now (not for us-east-2), so it is made in us-west-2."},
	} {
		t.Run(name, func(t *testing.T) {
			r := validRequest()
			r.Profile = "aws-standard"
			if c.change != nil {
				c.change(&r)
			}
			with := ofAWS(t, c.accounts...)
			with.Brakes, with.Own = c.brakes, map[string]string{"aws": "1"}
			v := Evaluate(r, Usage{Accounts: c.used}, with, Settings{})
			require.True(t, v.Allowed, v.Text())
			require.Equal(t, c.region, v.Grant.Region)
			require.Contains(t, find(t, v, "region").Message, c.says)
			require.Equal(t, c.region != "us-east-1", len(v.Warnings()) > 0, "an acceptance says that it is made elsewhere")
			profile, _ := with.Catalogue.Get("aws-standard")
			granted, _ := profile.Region(c.region)
			require.Equal(t, granted.HourlyCents, v.Grant.HourlyCents, "its price is that of the region")
			require.Equal(t, granted.Zones, v.Grant.Zones)
			if c.accounts != nil && c.region == "us-east-1" {
				require.Equal(t, "three", v.Grant.Account)
			}
			if c.region != "us-east-1" {
				require.Equal(t, "us-east-1", v.Grant.ClaimFrom.Regions[0], "what waits in a pool there is ready")
				require.True(t, PoolFits(profiles.Pool{Profile: "aws-standard"}, v.Grant, with.Catalogue))
			}
		})
	}
}

type noOhio struct{ Rules }

func (noOhio) Defaults(in In) (Request, []Check) { return in.Request, nil }

func (noOhio) Judge(in In) []Check {
	if in.Request.Region == "us-east-2" {
		return []Check{{Name: "acme/no-ohio", Result: Fail, Message: "Not there.", Next: "Ask."}}
	}
	return nil
}

func TestARegionThatARuleRefusesTakesNoPlaceOfAnother(t *testing.T) {
	r := validRequest()
	r.Profile = "aws-standard"
	with := terms(t)
	with.Rules = noOhio{}
	with.Brakes = []lifecycle.Brake{{ID: "frz_1", Kind: lifecycle.Freeze, Where: lifecycle.Place{Region: "us-east-1"}, By: "Will", Since: noon, Until: noon.Add(time.Hour)}}
	v := Evaluate(r, Usage{}, with, Settings{})
	require.True(t, v.Allowed, v.Text())
	require.Equal(t, "us-east-1", v.Grant.Region, "it waits there")
}

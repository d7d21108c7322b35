package doctor

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/ocpctl/ocpctl/profiles"
)

// checkAccount checks the cloud account with this process's own identity: the credentials of runners are theirs alone.
func (d *doctor) checkAccount(ctx context.Context, f *findings) {
	loaded, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		f.fail("identity", "Correct the AWS settings of this process (AWS_… variables, shared files).", "%s", err)
		return
	}
	if loaded.Region == "" {
		loaded.Region = "us-east-1"
	}
	who, err := sts.NewFromConfig(loaded).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		f.fail("identity", "Check this process's AWS credentials (aws sts get-caller-identity), and that this machine reaches STS.", "%s", err)
		return
	}
	f.ok("identity", "this process is %s", aws.ToString(who.Arn))
	if theirs, ok := middleware.GetServerTime(who.ResultMetadata); ok {
		d.checkClock(f, "AWS", theirs, time.Second)
	}
	if !d.rightAccount(f, aws.ToString(who.Account)) {
		f.skip("regions", "runners work in another account")
		f.skip("zones", "runners work in another account")
		return
	}
	terms, err := d.loadCatalogue()
	if err != nil {
		f.skip("regions", "the catalogue is not valid")
		return
	}
	regions, domains := profilePlaces(listEnabled(terms))
	checkRegions(ctx, f, loaded, regions)
	checkZones(ctx, f, route53.NewFromConfig(loaded), domains)
}

// rightAccount compares the identity's account with the configured one. It reports whether runners work in the identity's account.
func (d *doctor) rightAccount(f *findings, found string) bool {
	wanted := d.Settings.Cloud("aws").Account
	shared := d.Settings.Cloud("aws").CredentialsRef == "" && d.Kubernetes == nil && !slices.ContainsFunc(slices.Collect(maps.Keys(d.Settings.Runner.Env)),
		func(name string) bool { return strings.HasPrefix(name, "AWS_") })
	switch {
	case wanted == "":
		f.warn("account", "Set account: \""+found+"\", so that no cluster is created elsewhere.", "account is not set; this process is in %s", found)
	case wanted == found:
		f.ok("account", "this process is in the account %s", found)
	case shared:
		f.fail("account", "Give this process credentials of "+wanted+", or correct account ("+d.Settings.Origin("account")+").",
			"account is %s, and runners would work with this process's identity, which is in %s", wanted, found)
		return false
	default:
		f.skip("account", "account is %s, and this process is in %s; only runners have credentials for it", wanted, found)
		return false
	}
	return true
}

// profilePlaces lists the regions and base domains of the profiles on AWS.
func profilePlaces(list []profiles.Profile) (regions, domains []string) {
	for _, p := range list {
		if p.Platform != "aws" {
			continue
		}
		for _, r := range p.Regions {
			regions = append(regions, r.Name)
		}
		domains = append(domains, p.BaseDomains.Allow...)
	}
	slices.Sort(regions)
	slices.Sort(domains)
	return slices.Compact(regions), slices.Compact(domains)
}

// checkRegions asks STS in each region: where a region is not enabled for the account, it refuses every call.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html
func checkRegions(ctx context.Context, f *findings, cfg aws.Config, regions []string) {
	var off []string
	for _, region := range regions {
		_, err := sts.NewFromConfig(cfg, func(o *sts.Options) { o.Region = region }).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		switch code := codeOf(err); {
		case err == nil:
		case code == "InvalidClientTokenId", code == "RegionDisabledException", code == "OptInRequired":
			off = append(off, region)
		default:
			f.fail("regions", "Check that this machine reaches STS in "+region+".", "%s", err)
			return
		}
	}
	if len(off) > 0 {
		f.fail("regions", "Enable them for the account (aws account enable-region), or remove them from the profiles.", "the account may not use %s", joinWords(off))
		return
	}
	f.ok("regions", "the account may use %s", joinWords(regions))
}

// checkZones looks for the public hosted zone of each base domain.
func checkZones(ctx context.Context, f *findings, client *route53.Client, domains []string) {
	var missing []string
	for _, domain := range domains {
		got, err := client.ListHostedZonesByName(ctx, &route53.ListHostedZonesByNameInput{DNSName: &domain})
		switch code := codeOf(err); {
		case code == "AccessDenied", code == "AccessDeniedException":
			f.skip("zones", "this identity lacks route53:ListHostedZonesByName, and need not have it; check that %s exist by hand", joinWords(domains))
			return
		case err != nil:
			f.fail("zones", "Check that this machine reaches Route 53.", "%s", err)
			return
		}
		public := false
		for _, zone := range got.HostedZones {
			public = public || aws.ToString(zone.Name) == strings.TrimSuffix(domain, ".")+"." && !(zone.Config != nil && zone.Config.PrivateZone)
		}
		if !public {
			missing = append(missing, domain)
		}
	}
	if len(missing) > 0 {
		f.fail("zones", "Create them (aws route53 create-hosted-zone) and delegate them, or correct baseDomains in the profiles.",
			"the account has no public hosted zone for %s", joinWords(missing))
		return
	}
	f.ok("zones", "there is a public hosted zone for %s", joinWords(domains))
}

package devstack

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/gateway"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/real"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// otherRegions are the stand-in AWS's regions in which S3 has an address of its own; us-east-1's is the stack's.
var otherRegions = []string{"us-east-2", "us-west-2"}

// startGateway starts the way of real programs to the stand-in clouds, which are started later, and writes its variables to gateway.env, for
// any other program of a cloud.
func (h *Stack) startGateway(ctx context.Context) (err error) {
	defer must.Catch(&err)
	if h.Real == "" {
		return nil
	}
	h.Real = must.Get(filepath.Abs(h.Real))
	must.Do(os.MkdirAll(h.Dir, 0o711))
	h.s3In = map[string]int{}
	others := map[string]string{}
	for _, region := range otherRegions {
		h.s3In[region] = must.Get(FreePort())
		others[region] = "http://" + addr(h.s3In[region])
	}
	h.Gateway = must.Get(gateway.Start(ctx, gateway.Config{
		Addr: "127.0.0.1:0", Dir: h.Dir, AWS: "http://" + addr(h.Ports.AWS), S3: "http://" + addr(h.Ports.S3), S3In: others, IBMCloud: "http://" + addr(h.Ports.IBMCloud),
	}))
	return os.WriteFile(h.path("gateway.env"), []byte(strings.Join(h.Gateway.Environment(), "\n")+"\n"), 0o600)
}

// startRegions starts S3's addresses in other regions.
func (h *Stack) startRegions(ctx context.Context) error {
	for region, port := range h.s3In {
		server, err := h.S3.InRegion(ctx, region, port)
		if err != nil {
			return err
		}
		h.regional = append(h.regional, server)
	}
	return nil
}

// realPrograms are the variables of runners that lead to the real programs, and those to the clouds.
func (h *Stack) realPrograms() []string {
	if h.Gateway == nil {
		return nil
	}
	return append(dispatch.Allowed(h.Gateway.Environment()), real.Variable+"="+h.Real, real.UsageVariable+"="+h.RealUsage(), real.CreateVariable+"="+os.Getenv(real.CreateVariable))
}

// RealUsage is the file in which each run of a real program has a line: how long it took, and its peak memory.
func (h *Stack) RealUsage() string { return h.Shared("real-programs.log") }

// offerRealVersion makes the real programs' version the default of a catalogue's profiles.
func (h *Stack) offerRealVersion(dir string) (err error) {
	defer must.Catch(&err)
	if h.Real == "" {
		return nil
	}
	usual := installer.Versions()[0]
	for _, path := range must.Get(filepath.Glob(filepath.Join(dir, "profiles", "*.yaml"))) {
		raw := string(must.Get(os.ReadFile(path)))
		raw = strings.Replace(raw, `default: "`+usual+`"`, `default: "`+installer.RealVersion+`"`, 1)
		raw = strings.Replace(raw, `"`+usual+`"]`, `"`+usual+`", "`+installer.RealVersion+`"]`, 1)
		must.Do(os.WriteFile(path, []byte(raw), 0o644))
	}
	return nil
}

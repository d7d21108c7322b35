package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

// createInput is what the command line of create says.
type createInput struct {
	file, ttl, sshKey     string
	reuse, slot, lifetime string
	onReady               string
	noPool                bool
	of                    runInput
	tags                  []string
	v1.CreateRequest
}

func (a *app) addCreateFlags(c *cobra.Command, w *createInput) {
	f := c.Flags()
	f.StringVarP(&w.file, "from-file", "f", "", optionUsage("create", "from-file"))
	addTextFlags(c, "create", map[string]*string{
		"name": &w.Name, "ttl": &w.ttl, "team": &w.Team, "owner": &w.Owner, "cost-center": &w.CostCenter, "environment": &w.Environment,
		"region": &w.Region, "version": &w.Version, "base-domain": &w.BaseDomain, "platform": &w.Platform, "pool": &w.Pool, "account": &w.Account, "ssh-key": &w.sshKey,
		"reuse": &w.reuse, "slot": &w.slot, "lifetime": &w.lifetime, "on-ready": &w.onReady,
	})
	f.StringArrayVar(&w.tags, "tag", nil, optionUsage("create", "tag"))
	f.StringArrayVar(&w.Addons, "addon", nil, optionUsage("create", "addon"))
	f.BoolVar(&w.noPool, "no-pool", false, optionUsage("create", "no-pool"))
	c.MarkFlagsMutuallyExclusive("pool", "no-pool")
	w.of.addFlags(c)
	f.BoolFunc("off-hours", optionUsage("create", "off-hours"), func(text string) error {
		yes, err := strconv.ParseBool(text)
		w.OffhoursOptIn = &yes
		return err
	})
}

// noPool is the pool of a request for a cluster that is made anew.
const noPool = "none"

// readRequest returns the whole request: the file's values, overridden by flags. Everything that is wrong with it is reported at once.
func (a *app) readRequest(w createInput, args []string) (v1.CreateRequest, error) {
	r, wrong := a.readRequestFile(w.file)
	readable := len(wrong) == 0
	flags := w.CreateRequest
	if len(args) > 0 {
		flags.Profile = args[0]
	}
	for _, over := range []struct{ into, from *string }{
		{&r.Name, &flags.Name}, {&r.Profile, &flags.Profile}, {&r.Team, &flags.Team}, {&r.Owner, &flags.Owner}, {&r.CostCenter, &flags.CostCenter},
		{&r.Environment, &flags.Environment}, {&r.Region, &flags.Region}, {&r.Version, &flags.Version}, {&r.BaseDomain, &flags.BaseDomain},
		{&r.Platform, &flags.Platform}, {&r.Pool, &flags.Pool}, {&r.Account, &flags.Account},
	} {
		if *over.from != "" {
			*over.into = *over.from
		}
	}
	if len(flags.Addons) > 0 {
		r.Addons = flags.Addons
	}
	if flags.OffhoursOptIn != nil {
		r.OffhoursOptIn = flags.OffhoursOptIn
	}
	if w.noPool {
		r.Pool = noPool
	}
	if w.ttl != "" {
		ttl, err := humanize.Lifetime(w.ttl)
		if err != nil {
			wrong = append(wrong, exit.Field{Name: "--ttl", Detail: err.Error() + "."})
		}
		r.TTL, r.TTLHours = ttl, 0
	}
	wrong = append(wrong, a.addRun(w, &r)...)
	wrong = append(wrong, addPublicKey(w.sshKey, &r)...)
	wrong = append(wrong, addTags(w.tags, &r)...)
	if r.Name == "" && readable && (r.Pool == "" || r.Pool == noPool) && r.Run.Reuse != v1.RunRequestReusePullRequest {
		wrong = append(wrong, exit.Field{Name: "--name", Detail: "Required.", Accepted: []string{"lowercase letters, digits and dashes, at most 21 characters, e.g. team-a-smoke-01"}})
	}
	return r, exit.Wrong("The request is not complete or not valid.", wrong)
}

// The values of --reuse, --lifetime and --on-ready.
var (
	reuses    = []string{string(v1.RunRequestReuseNone), string(v1.RunRequestReuseRun), string(v1.RunRequestReusePullRequest)}
	lifetimes = []string{string(v1.RunRequestLifetimeRun), string(v1.RunRequestLifetimeJob), string(v1.RunRequestLifetimeTTL)}
	signals   = []string{string(v1.RunRequestOnReadyNone), string(v1.RunRequestOnReadyDeployment), string(v1.RunRequestOnReadyDispatch)}
)

// addRun adds how the cluster belongs to the run of the pipeline in which the command runs.
func (a *app) addRun(w createInput, r *v1.CreateRequest) []exit.Field {
	of, wrong := w.of.readRun(a.Env)
	if of != (runInput{}) {
		r.Run.Kind, r.Run.Name, r.Run.UID = v1.RunRequestKind(of.kind), of.name, of.uid
	}
	if w.reuse != "" {
		r.Run.Reuse = v1.RunRequestReuse(w.reuse)
	}
	if w.lifetime != "" {
		r.Run.Lifetime = v1.RunRequestLifetime(w.lifetime)
	}
	if w.slot != "" {
		r.Run.Slot = w.slot
	}
	if w.onReady != "" {
		r.Run.OnReady = v1.RunRequestOnReady(w.onReady)
	}
	for _, one := range []struct {
		flag, value string
		accepted    []string
	}{{"--on-ready", w.onReady, signals}, {"--reuse", w.reuse, reuses}, {"--lifetime", w.lifetime, lifetimes}} {
		if one.value != "" && !slices.Contains(one.accepted, one.value) {
			wrong = append(wrong, exit.Field{Name: one.flag, Detail: fmt.Sprintf("%q is not supported.", one.value), Accepted: one.accepted})
		}
	}
	return wrong
}

func addPublicKey(path string, r *v1.CreateRequest) []exit.Field {
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	text := strings.TrimSpace(string(raw))
	switch {
	case err != nil:
		return []exit.Field{{Name: "--ssh-key", Detail: fmt.Sprintf("It cannot be read: %v.", errors.Unwrap(err)), Accepted: []string{"a file such as ~/.ssh/id_ed25519.pub"}}}
	case strings.Contains(text, "PRIVATE KEY"):
		return []exit.Field{{Name: "--ssh-key", Detail: path + " is a private key. It was not sent.", Accepted: []string{path + ".pub"}}}
	case strings.Contains(text, "\n") || len(strings.Fields(text)) < 2:
		return []exit.Field{{Name: "--ssh-key", Detail: path + " is not a single public key.", Accepted: []string{"a file with one line such as ssh-ed25519 AAAA… maya"}}}
	}
	r.SSHPublicKey = text
	return nil
}

func addTags(tags []string, r *v1.CreateRequest) (wrong []exit.Field) {
	for _, tag := range tags {
		key, value, ok := strings.Cut(tag, "=")
		if !ok || key == "" || value == "" {
			wrong = append(wrong, exit.Field{Name: "--tag", Detail: fmt.Sprintf("%q is not a tag.", tag), Accepted: []string{"key=value"}})
			continue
		}
		if r.ExtraTags == nil {
			r.ExtraTags = map[string]string{}
		}
		r.ExtraTags[key] = value
	}
	return wrong
}

// mostFile is the server's limit.
const mostFile = 64 << 10

func (a *app) readRequestFile(path string) (r v1.CreateRequest, wrong []exit.Field) {
	if path == "" {
		return r, nil
	}
	raw, err := a.readInput(path, mostFile)
	if err != nil {
		return r, []exit.Field{{Name: "--from-file", Detail: err.Error() + "."}}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&r); err != nil {
		return v1.CreateRequest{}, explainMisread(err)
	}
	var given struct {
		TTLHours *int `yaml:"ttlHours"` // 0 is refused, and is not the same as none
	}
	if err := yaml.Unmarshal(raw, &given); err != nil {
		return v1.CreateRequest{}, explainMisread(err)
	}
	if given.TTLHours != nil && *given.TTLHours < 1 {
		wrong = append(wrong, exit.Field{Name: "ttlHours", Detail: fmt.Sprintf("%d is not a lifetime. Every cluster has an end.", *given.TTLHours), Accepted: []string{"whole hours above 0"}})
	}
	return r, wrong
}

// explainMisread returns every line that could not be parsed.
func explainMisread(err error) (wrong []exit.Field) {
	var lines *yaml.TypeError
	if !errors.As(err, &lines) {
		return []exit.Field{{Name: "--from-file", Detail: strings.TrimPrefix(err.Error(), "yaml: ") + ".", Accepted: []string{"one JSON or YAML object"}}}
	}
	for _, e := range lines.Errors {
		line, _, _ := strings.Cut(e, " in type v1.")
		wrong = append(wrong, exit.Field{Name: "--from-file", Detail: line + "."})
	}
	wrong[len(wrong)-1].Accepted = []string{
		"name", "profile", "ttl", "ttlHours", "team", "owner", "costCenter", "environment", "region", "version", "baseDomain", "platform", "sshPublicKey", "extraTags", "addons", "offhoursOptIn", "pool", "account", "run",
	}
	return wrong
}

// readInput reads a file, or the standard input for -.
func (a *app) readInput(path string, most int64) ([]byte, error) {
	from := a.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	raw, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s is larger than %d KiB", path, most>>10)
	}
	return raw, err
}

// runInput names the pipeline's run in which a command runs, for tokens that do not name it: those of Kubernetes' service accounts.
type runInput struct{ kind, name, uid string }

func (r *runInput) addFlags(c *cobra.Command) {
	addTextFlags(c, "create", map[string]*string{"run-kind": &r.kind, "run-name": &r.name, "run-uid": &r.uid})
}

var runKinds = []string{string(v1.RunRequestKindPipelineRun)}

// readRun returns the run that flags and environment name, empty if they name none, and what is wrong with it.
func (r *runInput) readRun(env func(string) string) (runInput, []exit.Field) {
	out := runInput{cmp.Or(r.kind, env("OCPCTL_RUN_KIND")), cmp.Or(r.name, env("OCPCTL_RUN_NAME")), cmp.Or(r.uid, env("OCPCTL_RUN_UID"))}
	if out.name == "" && out.uid == "" && r.kind == "" {
		return runInput{}, nil // a kind alone in the environment names nothing
	}
	out.kind = cmp.Or(out.kind, runKinds[0])
	var wrong []exit.Field
	if !slices.Contains(runKinds, out.kind) {
		wrong = append(wrong, exit.Field{Name: "--run-kind", Detail: fmt.Sprintf("%q is not supported.", out.kind), Accepted: runKinds})
	}
	for _, need := range []struct{ flag, value, accepted string }{
		{"--run-name", out.name, "$(context.pipelineRun.name)"}, {"--run-uid", out.uid, "$(context.pipelineRun.uid)"},
	} {
		if need.value == "" {
			wrong = append(wrong, exit.Field{Name: need.flag, Detail: "Required to name a run.", Accepted: []string{"in Tekton: " + need.accepted}})
		}
	}
	return out, wrong
}

// readTurnRun is named for a command about turns.
func (r *runInput) readTurnRun(env func(string) string) (runInput, error) {
	of, wrong := r.readRun(env)
	return of, exit.Wrong("The pipeline's run is not named completely.", wrong)
}

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

// terminal is the environment of the program ocpctl: a home of its own, and an AWS identity.
type terminal struct {
	program, home string
	env           []string
}

// newTerminal creates a terminal whose home is deleted at the end of the test.
func (t *scenario) newTerminal() (terminal, func(), error) {
	home, err := os.MkdirTemp("", "ocpctl-e2e-")
	if err != nil {
		return terminal{}, nil, err
	}
	return terminal{t.at.Program, home, []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ENDPOINT_URL_STS=" + t.at.AWS, "AWS_ACCESS_KEY_ID=" + t.at.AWSKey, "AWS_SECRET_ACCESS_KEY=" + t.at.AWSSecret,
	}}, func() { os.RemoveAll(home) }, nil
}

// run runs ocpctl and expects an exit code and some texts in its output.
func (s terminal) run(ctx context.Context, code int, args []string, want ...string) error {
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = s.env
	raw, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return err
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("ocpctl %s ended with %d instead of %d: %.600s", strings.Join(args, " "), got, code, raw)
	}
	return contains(string(raw), want...)
}

// atTheCommandLine checks that a program requests something that needs an approval, gets it, and gives it back.
func (t *scenario) atTheCommandLine(ctx context.Context) {
	s, end, err := t.newTerminal()
	must.Do(err)
	defer end()
	name := "e2e-" + strconv.FormatInt(time.Now().Unix()%(36*36*36*36*36), 36)
	config := filepath.Join(s.home, "kubeconfig")
	does := func(what string, code int, args []string, want ...string) {
		t.step(what, func() error { return s.run(ctx, code, args, want...) })
	}
	does("ocpctl login proves an AWS identity; no key and no token is kept", 0,
		[]string{"login", "--server", t.at.Private, "--auth", "aws"}, "ocpctl-cli", "requester of team platform")
	does("--dry-run says what it would cost, and that it takes a person's word", 0,
		[]string{"create", "aws-standard", "--name", name, "--ttl", "101h", "--dry-run"}, "approval", "$")
	does("ocpctl create --wait ends with 7 while nobody gives it", 7,
		[]string{"create", "aws-standard", "--name", name, "--ttl", "101h", "--wait", "--timeout", "1s"}, "approval")
	does("the word of the one who asked does not count: 3", 3, []string{"approve", name}, "platform admin")
	t.step("will approves it on its page", func() error { return t.approves(ctx, "will", name) })
	does("ocpctl wait ends with 0 when it is READY", 0, []string{"wait", name, "--timeout", "60s"}, "READY")
	does("ocpctl list has it", 0, []string{"list"}, name)
	t.step("ocpctl kubeconfig writes a file for its owner alone", func() error {
		return all(
			func() error { return s.run(ctx, 0, []string{"kubeconfig", name, "-f", config}) },
			func() error { return ownersAlone(config) },
		)
	})
	does("ocpctl destroy --wait ends with 0 when nothing is left", 0, []string{"destroy", name, "--wait", "--timeout", "60s"}, "DESTROYED")
	t.step("the stand-in cloud's own count is zero", func() error { return t.nothing(ctx, name) })
	auditor := terminal{s.program, s.home, append([]string{"OCPCTL_TOKEN=" + t.at.Auditor}, s.env...)}
	t.step("ocpctl audit verify: the trail of all this is whole", func() error { return auditor.run(ctx, 0, []string{"audit", "verify"}, "intact") })
}

func ownersAlone(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() != 0o600 {
		err = fmt.Errorf("%s has mode %s", filepath.Base(path), info.Mode().Perm())
	}
	return err
}

// approves finds a pending approval on the page of approvals and gives it there.
func (t *scenario) approves(ctx context.Context, login, name string) (err error) {
	defer must.Catch(&err)
	browser := must.Get(newBrowser())
	must.Do(saml.SignIn(ctx, browser, t.at.Private, login, "demo-"+login, "/approvals"))
	_, body := must.Get2(page(ctx, browser, http.MethodGet, t.at.Private+"/approvals"))
	_, rest, shown := strings.Cut(body, name) // the newest comes first, with its name
	_, rest, offered := strings.Cut(rest, `action="/approvals/`)
	id, _, _ := strings.Cut(rest, "/")
	must.FailIf(!shown || !offered, "%s is not offered there", name)
	_, body = must.Get2(page(ctx, browser, http.MethodPost, t.at.Private+"/approvals/"+id+"/approve"))
	return contains(body, "Approved.")
}

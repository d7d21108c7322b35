package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
)

func (a *app) newShellCommand() *cobra.Command {
	var q asking
	c := &cobra.Command{
		Use: "shell CLUSTER [-- COMMAND …]", Short: "Run a shell or a command with a kubeconfig of your own for a cluster",
		Long: `Run your shell with KUBECONFIG set, or the command after --. The kubeconfig is made for you and is in a folder that only you can
read. It is deleted when the shell ends. Its token is renewed while the shell runs; in a pipeline (CI is set) and with --static it is
not. The prompt and OCPCTL_CLUSTER show the cluster.
With a command, ocpctl ends with the command's exit code.`,
		Example: "  ocpctl shell team-a-smoke-01\n  ocpctl shell team-a-smoke-01 --role view -- kubectl get nodes",
	}
	q.addFlags(c)
	a.addStaticFlag(c, &q)
	return a.onCluster(c, 0, -1, func(ctx context.Context, api *connect.API, id string, command []string) error {
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		got, err := a.mintKubeconfig(ctx, api, found.Value.ClusterID, q)
		if err != nil {
			return err
		}
		folder, remove, err := kube.Private(a.Env)
		if err != nil {
			return err
		}
		return errors.Join(a.runWithKubeconfig(api, folder, found.Value.Cluster, q, got, command), remove())
	})
}

// runWithKubeconfig writes the kubeconfig into the folder, and runs a command or a shell with it.
func (a *app) runWithKubeconfig(api *connect.API, folder string, c v1.Cluster, q asking, got minted, command []string) error {
	raw := got.raw
	if !q.static {
		var err error
		if raw, err = a.renewingKubeconfig(api, c.ClusterID, q, got, folder); err != nil {
			return err
		}
	}
	if err := kube.Write(filepath.Join(folder, "kubeconfig"), raw); err != nil {
		return err
	}
	return a.runInside(folder, c, command)
}

// notACommand is the exit code of shells if there is no such program.
const notACommand exit.Code = 127

// runInside runs a command, or a shell, with the kubeconfig in the folder.
func (a *app) runInside(folder string, c v1.Cluster, command []string) error {
	interactive := len(command) == 0
	env := append(a.Environ[:len(a.Environ):len(a.Environ)], "KUBECONFIG="+filepath.Join(folder, "kubeconfig"), "OCPCTL_CLUSTER="+c.Name)
	if interactive {
		var err error
		if command, env, err = setPrompt(cmp.Or(a.Env("SHELL"), "/bin/sh"), folder, c.Name, env); err != nil {
			return err
		}
		a.printNotef("%s, %s: KUBECONFIG is set. Leave with exit; the kubeconfig is then deleted.", c.Name, describeEnd(c, a.Now()))
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = a.In, a.Out, a.Err, env
	err := a.Run(cmd)
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && interactive:
		return nil // the exit code of the last command in a shell does not matter
	case errors.As(err, &ended):
		return exit.Silent(exit.Code(max(ended.ExitCode(), 1)))
	case errors.Is(err, exec.ErrNotFound):
		return exit.With(notACommand, fmt.Errorf("the program %s is not on your PATH", humanize.Line(command[0])))
	case err != nil:
		return fmt.Errorf("run %s: %w", humanize.Line(command[0]), err)
	}
	return nil
}

// setPrompt returns a shell whose prompt contains the cluster's name, if the shell is a known one. Its own settings are read first.
func setPrompt(shell, folder, name string, env []string) ([]string, []string, error) {
	mark := "(ocp:" + strings.Map(plainRune, name) + ") "
	switch filepath.Base(shell) {
	case "bash":
		rc := filepath.Join(folder, "bashrc")
		text := "[ -f ~/.bashrc ] && . ~/.bashrc\nPS1='" + mark + "'\"$PS1\"\n"
		return []string{shell, "--rcfile", rc, "-i"}, env, os.WriteFile(rc, []byte(text), 0o600)
	case "zsh":
		text := "ZDOTDIR=\"${OCPCTL_ZDOTDIR:-$HOME}\"; unset OCPCTL_ZDOTDIR\n[ -f \"$ZDOTDIR/.zshrc\" ] && . \"$ZDOTDIR/.zshrc\"\nPROMPT='" + mark + "'\"$PROMPT\"\n"
		for _, pair := range env {
			if own, ok := strings.CutPrefix(pair, "ZDOTDIR="); ok {
				env = append(env, "OCPCTL_ZDOTDIR="+own)
			}
		}
		return []string{shell, "-i"}, append(env, "ZDOTDIR="+folder), os.WriteFile(filepath.Join(folder, ".zshrc"), []byte(text), 0o600)
	case "fish":
		hint := "functions -c fish_prompt ocpctl_prompt; function fish_prompt; echo -n '" + mark + "'; ocpctl_prompt; end"
		return []string{shell, "-i", "-C", hint}, env, nil
	}
	return []string{shell, "-i"}, env, nil
}

// plainRune keeps characters that may be inside quotes in every shell.
func plainRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
		return r
	}
	return -1
}

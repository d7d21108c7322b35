package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
)

func (a *app) shell() *cobra.Command {
	c := &cobra.Command{
		Use: "shell CLUSTER [-- COMMAND …]", Short: "Run a shell or a command with a cluster's kubeconfig",
		Long: `Run your shell with KUBECONFIG set, or the command after --. The kubeconfig is in a directory that only you can read, and is
deleted when the shell ends. The prompt and OCPCTL_CLUSTER show the cluster.
With a command, ocpctl ends with the command's exit code.`,
		Example: "  ocpctl shell team-a-smoke-01\n  ocpctl shell team-a-smoke-01 -- kubectl get nodes",
	}
	return a.onCluster(c, 0, -1, func(ctx context.Context, id string, command []string) error {
		api, err := a.api()
		if err != nil {
			return err
		}
		found, err := connect.Read[client.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		raw, err := connect.Body(api.GetKubeconfig(ctx, found.Value.ClusterID))
		if err != nil {
			return err
		}
		folder, remove, err := kube.Private(raw, a.Env)
		if err != nil {
			return err
		}
		return errors.Join(a.inside(folder, found.Value.Cluster, command), remove())
	})
}

// notACommand is the exit code of shells if there is no such program.
const notACommand exit.Code = 127

// inside runs a command, or a shell, with the kubeconfig in the folder.
func (a *app) inside(folder string, c client.Cluster, command []string) error {
	interactive := len(command) == 0
	env := append(a.Environ[:len(a.Environ):len(a.Environ)], "KUBECONFIG="+filepath.Join(folder, "kubeconfig"), "OCPCTL_CLUSTER="+c.Name)
	if interactive {
		var err error
		if command, env, err = prompting(orElse(a.Env("SHELL"), "/bin/sh"), folder, c.Name, env); err != nil {
			return err
		}
		a.say("%s, %s: KUBECONFIG is set. Leave with exit; the kubeconfig is then deleted.", c.Name, endOf(c, a.Now()))
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

// prompting returns a shell whose prompt contains the cluster's name, if the shell is a known one. Its own settings are read first.
func prompting(shell, folder, name string, env []string) ([]string, []string, error) {
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

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/controller/recovery"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/runner/platform"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const recoverCommand = "recover"

// keepRecovered is how long a ready cluster that is newer than the backup is kept, if -keep does not say otherwise: a working day.
const keepRecovered = 8 * time.Hour

// errNeedsPerson ends a recovery that could not account for everything by itself.
var errNeedsPerson = errors.New("not everything could be recovered; see the lines with NEEDS A PERSON, and docs/backup.md")

// recoverState brings a database that was restored from a backup up to what the bucket and the cloud show.
func recoverState(args []string, out, errs io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("ocpctl-server "+recoverCommand, flag.ContinueOnError)
	flags.SetOutput(errs)
	path := flags.String("config", "ocpctl.yaml", "the server's configuration `file`")
	since := flags.Duration("since", 0, "read only what was stored in the bucket in this time; give more than the age of the backup; 0: everything")
	keep := flags.Duration("keep", keepRecovered, "how long ready clusters are kept that are newer than the backup, or whose end may have been extended after it")
	dry := flags.Bool("dry-run", false, "show what would be done, and write nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *keep <= 0 || *since < 0 {
		return errors.New("give -keep and -since as durations such as 8h, and no other arguments")
	}
	every := config.Roles{config.APIRole, config.WorkerRole}
	cfg, err := config.Load(*path, every)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(errs, nil))
	set, err := recoverySettings(ctx, cfg, every, log)
	if err != nil {
		return err
	}
	defer set.Store.Close()
	set.Since, set.Keep, set.DryRun = *since, *keep, *dry
	lines, err := recovery.Run(ctx, set)
	return errors.Join(printRecovery(out, lines), err)
}

// recoverySettings connects to everything that is compared.
func recoverySettings(ctx context.Context, c config.Config, r config.Roles, log *slog.Logger) (set recovery.Config, err error) {
	live, err := openCatalogue(c, r, log)
	if err != nil {
		return set, err
	}
	set = recovery.Config{
		BucketName: c.Artifacts.Bucket, Installation: c.Installation, Wait: c.Runner.Lease + c.Limits.LeaseGrace, Log: log,
		Spec: specOf(c),
	}
	catalogue := live.Current()
	set.Version = catalogue.DefaultVersion
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Get(name)
		if profile.Platform != recovery.Searched {
			continue
		}
		set.Regions = append(set.Regions, profile.RegionNames()...)
	}
	set.BaseDomain = catalogue.OnlyBaseDomain
	if set.Bucket, err = artifacts.New(ctx, artifacts.Config{Bucket: c.Artifacts.Bucket}); err != nil {
		return set, err
	}
	if set.Cloud, err = cloudTags(ctx, c); err != nil {
		return set, err
	}
	set.Store, err = openStore(ctx, c, true, log)
	return set, err
}

// specOf returns the spec of a recovered cluster of a version: the settings in force now.
func specOf(c config.Config) func(platform, version string) clusters.Spec {
	return func(platform, version string) clusters.Spec {
		return clusters.Spec{
			Zones: []string{}, PullSecretRef: c.Runner.PullSecretRef, SSHKey: c.Runner.SSHKey, SSHKeyRef: c.Runner.SSHKeyRef,
			CloudCredsRef: c.Cloud(platform).CredentialsRef, ReleaseImage: c.Runner.Releases[version],
		}
	}
}

// cloudTags asks the cloud with the runners' keys, or with this process's own identity if they have none.
func cloudTags(ctx context.Context, c config.Config) (*cloudtags.Client, error) {
	field, ref := c.CredentialsField(recovery.Searched)
	if ref == "" {
		return cloudtags.New(ctx)
	}
	raw, err := c.Secret(ctx, field, ref)
	if err != nil {
		return nil, err
	}
	kind, err := platform.Of(recovery.Searched)
	if err != nil {
		return nil, err
	}
	keys, err := kind.ParseKeys(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return cloudtags.New(ctx, awsconfig.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(keys.ID, keys.Secret.Reveal(), keys.Token.Reveal())))
}

// printRecovery prints a line for each cluster. errNeedsPerson: some need a person.
func printRecovery(out io.Writer, lines []recovery.Line) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(out, "Nothing is newer than the database.")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "CLUSTER\tNAME\tFOUND IN\tDONE\tWHY")
	person := false
	for _, l := range lines {
		done := l.Done
		if l.Person {
			done, person = "NEEDS A PERSON", true
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", l.Cluster, l.Name, l.Found, done, l.Why)
	}
	if err := table.Flush(); err != nil || !person {
		return err
	}
	return errNeedsPerson
}

package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/store/auditchain"
)

func (a *app) newAuditCommand() *cobra.Command {
	return newGroupCommand("audit", "Read, export and verify the audit trail", "", a.newAuditListCommand(), a.newAuditExportCommand(), a.newAuditVerifyCommand())
}

// trail are the filters of the audit trail.
type trail struct {
	actor, action, cluster string
	period
}

func (a *app) addTrailFlags(c *cobra.Command, t *trail) {
	c.Flags().StringVar(&t.actor, "actor", "", "filter by `principal`")
	c.Flags().StringVar(&t.action, "action", "", "filter by `action`, e.g. kubeconfig.read")
	c.Flags().StringVar(&t.cluster, "cluster", "", "filter by `cluster`")
	a.addPeriodFlags(c, &t.period)
}

func (a *app) newAuditListCommand() *cobra.Command {
	var t trail
	var most int
	c := &cobra.Command{
		Use: "list", Short: "List the audit trail, newest first", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			return listOf[v1.AuditEvent]{
				name:  func(e v1.AuditEvent) string { return strconv.FormatInt(e.Seq, 10) },
				heads: []string{"LINE", "AT", "WHO", "WHAT", "THROUGH", "CLUSTER", "+MORE", "+HASH"},
				row: func(_ *table.Screen, e v1.AuditEvent) []any {
					return []any{e.Seq, humanize.Stamp(e.At), cmp.Or(e.ActorName, e.Actor), e.Action, e.Source, e.ClusterID, e.Metadata, e.Hash}
				},
				none: "No lines.",
			}.showPages(a, most, func(limit int, cursor string) (*http.Response, error) {
				return api.ListAudit(ctx, &v1.ListAuditParams{
					Actor: t.actor, Action: t.action, Cluster: t.cluster, From: t.From, To: t.To, Limit: limit, Cursor: cursor})
			})
		}),
	}
	a.addTrailFlags(c, &t)
	c.Flags().IntVar(&most, "limit", 50, "show at most this `number`; 0 shows all")
	return c
}

func (a *app) newAuditExportCommand() *cobra.Command {
	var t trail
	var file string
	c := &cobra.Command{
		Use: "export", Short: "Export the audit trail, oldest first, one JSON object per line",
		Long: "Export the audit trail, oldest first, one JSON object per line. Anyone who has an export without filters can verify it:\nocpctl audit verify --file FILE.",
		Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			return a.downloadFile(file)(api.ExportAudit(ctx, &v1.ExportAuditParams{Actor: t.actor, Action: t.action, Cluster: t.cluster, From: t.From, To: t.To}))
		}),
	}
	a.addTrailFlags(c, &t)
	fileFlag(c, &file, "write it to this `file` once it is complete")
	return c
}

// downloadFile returns a function that writes the response of a call to a file, which appears only when it is complete, or to the standard output.
func (a *app) downloadFile(file string) func(*http.Response, error) error {
	return func(res *http.Response, err error) error {
		body, err := connect.Stream(res, err)
		if err != nil {
			return err
		}
		defer body.Close()
		if file == "" {
			return a.writeStream(body)
		}
		if _, err := connect.SaveStream(file, body); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
		return nil
	}
}

// writeStream writes a stream to the standard output; to a terminal line by line, without control characters.
func (a *app) writeStream(from io.Reader) error {
	if !a.OutTTY {
		_, err := io.Copy(a.Out, from)
		return err
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if _, err := fmt.Fprintf(a.Out, "%s\n", table.Escaped(lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (a *app) newAuditVerifyCommand() *cobra.Command {
	var file, head string
	var part bool
	c := &cobra.Command{
		Use: "verify", Short: "Verify the hash chain of the audit trail on the server, or of an export on this machine",
		Long: `Verify the hash chain of the audit trail: on the server, or of an export on this machine without a server. If the trail was
changed, cut, reordered or rewritten, it shows where and the exit code is 1.

Every verification prints the head: the last line and its hash. Give an earlier head with --head to check that nothing up to
it was rewritten or cut off.`,
		Example: "  ocpctl audit verify\n  ocpctl audit export -f trail.ndjson && ocpctl audit verify --file trail.ndjson --head 4711:9f86d081…",
		Args:    rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, _ []string) error {
			if file == "" && (part || head != "") {
				return exit.Misused("--part and --head need --file")
			}
			if file != "" {
				return a.verifyFile(file, head, part)
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			answer, err := connect.Read[v1.AuditProof](api.VerifyAudit(ctx))
			if err != nil {
				return err
			}
			p := answer.Value
			broken := ""
			if p.BrokenAt > 0 {
				broken = strconv.FormatInt(p.BrokenAt, 10)
			}
			return a.printProof(answer.Raw, p.Whole, p.Lines, fmt.Sprintf("%d:%s", p.Lines, p.Head), p.Message, broken)
		}),
	}
	c.Flags().StringVar(&file, "file", "", "verify this `file`, an export; - is the standard input")
	c.Flags().StringVar(&head, "head", "", "an earlier head that the export must contain, as `line:hash`")
	c.Flags().BoolVar(&part, "part", false, "the export does not start at the first line (it was made with --from)")
	return c
}

func (a *app) verifyFile(path, head string, part bool) error {
	from := a.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("verify the export: %w", err)
		}
		defer file.Close()
		from = file
	}
	v := auditchain.After(auditchain.Start)
	if part {
		v = auditchain.Anywhere()
	}
	if head != "" {
		line, hash, _ := strings.Cut(head, ":")
		seq, err := strconv.ParseInt(line, 10, 64)
		if err != nil || seq < 1 || len(hash) != len(auditchain.Start.Hash) {
			return exit.Misused("--head %q is not a head; give line:hash as a verification prints it", head)
		}
		v.Know(auditchain.Head{Seq: seq, Hash: hash})
	}
	proof, err := v.Copy(from)
	if err != nil {
		return fmt.Errorf("verify the export: %w", err)
	}
	raw, err := json.Marshal(proof)
	if err != nil {
		return err
	}
	broken := ""
	if !proof.Whole() {
		broken = strconv.FormatInt(proof.Breaks[0].Seq, 10)
	}
	return a.printProof(raw, proof.Whole(), proof.Lines, fmt.Sprintf("%d:%s", proof.Head.Seq, proof.Head.Hash), proof.Text(), broken)
}

// printProof shows the result of a verification; a broken chain exits with 1.
func (a *app) printProof(raw []byte, whole bool, lines int64, head, said, broken string) error {
	err := a.printAnswer(raw, []string{head}, func(s *table.Screen) {
		text, paint := "intact", table.Good
		if !whole {
			text, paint = "broken", table.Bad
		}
		fmt.Fprintf(s.Out, "The audit trail is %s.\n", s.Painted(text, paint))
		f := s.Facts()
		f.Add("result", said)
		f.Add("first broken line", broken)
		f.Add("lines", fmt.Sprint(lines))
		f.Add("head", head)
		f.Write()
	})
	if err == nil && !whole {
		return exit.Silent(exit.Other)
	}
	return err
}

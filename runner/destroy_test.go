package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

const clusterUUID = "5f0c1b1e-0000-4000-8000-000000000001"

// shop is the cluster of every world.
var shop = names.Scope{Installation: "test", Cluster: "clu_1", Attempt: 3, Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-1"}

func identity(infraID string) contract.Identity {
	return contract.Identity{
		InfraID: infraID, ClusterUUID: clusterUUID, Account: account, Region: "us-east-1", Metadata: string(shop.MetadataJSON(names.Identity{InfraID: infraID, ClusterUUID: clusterUUID})),
	}
}

// archived puts a destroy bundle of an identity into the bucket.
func (w *world) archived(infraID string) contract.Snapshot {
	w.t.Helper()
	return w.archivedAs(infraID, string(shop.MetadataJSON(names.Identity{InfraID: infraID, ClusterUUID: clusterUUID})))
}

// archivedAs does so with another metadata.json.
func (w *world) archivedAs(infraID, metadata string) contract.Snapshot {
	w.t.Helper()
	dir := w.t.TempDir()
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(metadata), 0o640))
	one, err := storeOf(w.t, w).Save(w.t.Context(), artifacts.Bundle{Type: artifacts.Destroy, Cluster: "clu_1", Attempt: 1, InfraID: infraID, Dir: dir})
	require.NoError(w.t, err)
	return contract.Snapshot{
		Type: string(one.Type), Key: one.Key, ManifestKey: one.ManifestKey, SHA256: one.SHA256, Size: one.Size, InfraID: one.InfraID, TakenAt: one.TakenAt,
	}
}

// object reads what lies in the bucket, and put writes over it behind the store's back.
func (w *world) object(key string) []byte {
	w.t.Helper()
	raw, err := storeOf(w.t, w).Read(w.t.Context(), "s3://"+w.spec.Bucket+"/"+key)
	require.NoError(w.t, err)
	return raw
}

func (w *world) put(key string, raw []byte) {
	w.t.Helper()
	_, err := s3test.Shared(w.t).Client().PutObject(w.t.Context(), &s3.PutObjectInput{Bucket: &w.spec.Bucket, Key: &key, Body: bytes.NewReader(raw)})
	require.NoError(w.t, err)
}

// tamper changes a JSON document in the bucket.
func (w *world) tamper(key string, change func(map[string]any)) {
	w.t.Helper()
	var document map[string]any
	require.NoError(w.t, json.Unmarshal(w.object(key), &document))
	change(document)
	raw, err := json.Marshal(document)
	require.NoError(w.t, err)
	w.put(key, raw)
}

func newTeardown(t *testing.T, infraIDs ...string) *world {
	t.Helper()
	w := newWorld(t, contract.KindDestroy)
	w.spec.InstallConfig, w.spec.PullSecretRef = "", ""
	for _, id := range infraIDs {
		w.spec.Identities = append(w.spec.Identities, identity(id))
	}
	return w
}

func (w *world) passesAndExits() (passes []contract.Pass, exits []contract.ToolExit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.reports {
		if r.Pass != nil {
			require.Len(w.t, exits, 1, "the destroyer's end is told before the first pass")
			passes = append(passes, *r.Pass)
		}
		if r.ToolExit != nil {
			exits = append(exits, *r.ToolExit)
		}
	}
	return passes, exits
}

func TestATeardownRestoresDestroysRemovesAndCountsTwice(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.spec.VerifyGap = 60 * time.Millisecond
	older, newest := w.archived("shop-00001"), w.archived("shop-00001")
	w.spec.Snapshots = []contract.Snapshot{newest, older, w.archived("shop-99999")}
	var at []time.Time
	w.verify = func(_ int, t cloud.Target) contract.Pass { at = append(at, time.Now()); return cleanPass(t) }
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{
		"server: claim answered", "cloud: account asked", "installer: destroy shop-00001",
		"cloud: remove", "cloud: verify", "cloud: verify", "server: result answered",
	}, w.happened())
	require.Equal(t, contract.Result{Outcome: "succeeded"}, w.result())
	require.Contains(t, w.logText(), "restored "+newest.Key)
	passes, exits := w.passesAndExits()
	require.Len(t, passes, 2)
	require.Equal(t, []int{1, 2}, []int{passes[0].Number, passes[1].Number})
	require.Equal(t, []string{"shop-00001"}, passes[0].Identities)
	require.Equal(t, 0, exits[0].Code)
	require.GreaterOrEqual(t, at[1].Sub(at[0]), w.spec.VerifyGap)
	require.Equal(t, []string{"shop-00001"}, []string{w.removed[0].Identities[0].InfraID})

	listed, err := s3test.Shared(t).Client().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &w.spec.Bucket, Prefix: new("clusters/clu_1/destroy/")})
	require.NoError(t, err)
	require.Len(t, listed.Contents, 2)
	require.Regexp(t, `-a3/attempt\.json$`, *listed.Contents[0].Key)
	require.Regexp(t, `-a3/destroy\.log$`, *listed.Contents[1].Key)
}

func TestEveryIdentityEverRecordedIsDestroyedTheNewestLast(t *testing.T) {
	w := newTeardown(t, "shop-00001", "shop-00002")
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{"installer: destroy shop-00001", "installer: destroy shop-00002"}, w.happened()[2:4])
	passes, exits := w.passesAndExits()
	require.Len(t, passes, 2)
	require.Len(t, exits, 1)
}

func TestWithoutAnyIdentityOnlyTheCountIsTaken(t *testing.T) {
	w := newTeardown(t)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []string{"server: claim answered", "cloud: account asked", "cloud: verify", "cloud: verify", "server: result answered"}, w.happened())
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestAMissingSnapshotNeverMeansNothingToDestroy(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, w *world) (noted string){
		"a newer archive is corrupt": func(t *testing.T, w *world) string {
			older, newest := w.archived("shop-00001"), w.archived("shop-00001")
			newest.SHA256 = strings.Repeat("0", 64)
			w.spec.Snapshots = []contract.Snapshot{newest, older}
			return "restored " + older.Key
		},
		"the archive is of another cluster": func(t *testing.T, w *world) string {
			one := w.archived("shop-99999")
			one.InfraID = "shop-00001"
			w.spec.Snapshots = []contract.Snapshot{one}
			return "no snapshot could be restored"
		},
		"no archive was recorded": func(*testing.T, *world) string { return "no archive was ever recorded" },
		"the archives are gone": func(t *testing.T, w *world) string {
			w.spec.Snapshots = []contract.Snapshot{{Type: "INSTALL_DIR_SNAPSHOT", Key: "gone", ManifestKey: "gone.json", InfraID: "shop-00001"}}
			return "no snapshot could be restored"
		},
		"S3 is away": func(t *testing.T, w *world) string {
			w.spec.Snapshots = []contract.Snapshot{w.archived("shop-00001")}
			t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
			t.Setenv("AWS_MAX_ATTEMPTS", "1")
			return "the teardown uses only the server's record"
		},
		"one file of the newest archive is corrupt": func(t *testing.T, w *world) string {
			older, newest := w.archived("shop-00001"), w.archived("shop-00001")
			w.tamper(newest.ManifestKey, func(m map[string]any) { m["files"].([]any)[0].(map[string]any)["sha256"] = strings.Repeat("0", 64) })
			w.spec.Snapshots = []contract.Snapshot{newest, older}
			return "restored " + older.Key
		},
		"the newest archive's bytes are bent": func(t *testing.T, w *world) string {
			older, newest := w.archived("shop-00001"), w.archived("shop-00001")
			raw := w.object(newest.Key)
			raw[len(raw)/2] ^= 0x40
			w.put(newest.Key, raw)
			w.spec.Snapshots = []contract.Snapshot{newest, older}
			return "restored " + older.Key
		},
		"the newest archive's manifest is missing": func(t *testing.T, w *world) string {
			older, newest := w.archived("shop-00001"), w.archived("shop-00001")
			_, err := s3test.Shared(t).Client().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &w.spec.Bucket, Key: &newest.ManifestKey})
			require.NoError(t, err)
			w.spec.Snapshots = []contract.Snapshot{newest, older}
			return "restored " + older.Key
		},
		"every archive is corrupt": func(t *testing.T, w *world) string {
			older, newest := w.archived("shop-00001"), w.archived("shop-00001")
			older.SHA256, newest.SHA256 = strings.Repeat("0", 64), strings.Repeat("0", 64)
			w.spec.Snapshots = []contract.Snapshot{newest, older}
			return "no snapshot could be restored"
		},
		"the archive's metadata is a victim's": func(t *testing.T, w *world) string {
			w.spec.Snapshots = []contract.Snapshot{w.archivedAs("shop-00001", strings.ReplaceAll(identity("shop-00001").Metadata, "kubernetes.io/cluster/shop-00001", "kubernetes.io/cluster/bank-00001"))}
			return "the archive's metadata.json is not this cluster's: aws.identifier"
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			w.on("destroy", `cp "$dir/metadata.json" "$D/destroyed-by"`)
			noted := prepare(t, w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "succeeded", w.result().Outcome)
			require.Contains(t, w.logText(), noted)
			require.Equal(t, identity("shop-00001").Metadata, readFile(t, filepath.Join(w.dir, "destroyed-by")), "the server's record alone")
		})
	}
}

func TestNothingIsDeletedByANameThatIsNotTheClustersOwn(t *testing.T) {
	for name, change := range map[string]func(*contract.Identity){
		"another's infraID":     func(i *contract.Identity) { *i = identity("bank-00001") },
		"another's tags":        func(i *contract.Identity) { i.Metadata = strings.ReplaceAll(i.Metadata, clusterUUID, "victim") },
		"no metadata":           func(i *contract.Identity) { i.Metadata = "" },
		"another's ccoctl name": func(i *contract.Identity) { i.CCOName = "bank-abcdefghij" },
		"a later attempt's":     func(i *contract.Identity) { i.CCOName = ccoNameOf(4) },
		"another region":        func(i *contract.Identity) { i.Region = "eu-west-1" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			change(&w.spec.Identities[0])
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, []any{"failed", "IdentityRefused"}, []any{w.result().Outcome, w.result().Reason})
			require.Contains(t, w.result().Message, "nothing was deleted")
			require.Equal(t, []string{"server: claim answered", "cloud: account asked", "server: result answered"}, w.happened())
		})
	}
}

func TestNothingIsDeletedThatAnotherClusterOwnsToo(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.contested = func(cloud.Target) ([]cloud.Contested, error) {
		return []cloud.Contested{{ID: "arn:aws:ec2:us-east-1:1:vpc/vpc-1", Mark: "kubernetes.io/cluster/bank-00001=owned"}}, nil
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []any{"failed", "ResourcesContested", true}, []any{w.result().Outcome, w.result().Reason, w.result().Retryable})
	require.Contains(t, w.result().Message, "arn:aws:ec2:us-east-1:1:vpc/vpc-1 (kubernetes.io/cluster/bank-00001=owned)")
	require.False(t, w.did("installer: destroy") || w.did("cloud: remove"))

	w = newTeardown(t, "shop-00001")
	w.contested = func(cloud.Target) ([]cloud.Contested, error) {
		return []cloud.Contested{{ID: "crn:vpc-1", Mark: "resource group Default", Mention: true}}, nil
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", string(w.result().Outcome))
	require.False(t, w.did("installer: destroy"), "it would take what only mentions the cluster")
	require.True(t, w.did("cloud: remove"), "everything of the cluster goes by its exact name")

	w = newTeardown(t, "shop-00001")
	w.contested = func(cloud.Target) ([]cloud.Contested, error) { return nil, errors.New("Throttling") }
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []any{"failed", "CloudUnanswered", true}, []any{w.result().Outcome, w.result().Reason, w.result().Retryable})
	require.False(t, w.did("installer: destroy") || w.did("cloud: remove"), "not known is not uncontested")
}

// A server that adopted a cluster has no record of when it was accepted. Without any time, nothing would be older, and no forged tag would be noticed.
func TestAnAdoptedClusterWasAcceptedWhenItsIDWasMade(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		accepted *contract.Accepted
		want     time.Time
	}{
		"recorded":                        {&contract.Accepted{At: at.Add(time.Second)}, at.Add(time.Second)},
		"not recorded":                    {&contract.Accepted{}, at},
		"a server that does not say when": {nil, at},
	} {
		w := newTeardown(t, "shop-00001")
		w.spec.Cluster, w.spec.Accepted = "clu_"+ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), c.accepted
		var asked time.Time
		w.contested = func(t cloud.Target) ([]cloud.Contested, error) {
			asked = t.Accepted
			return nil, errors.New("Throttling")
		}
		require.NoError(t, w.run(t.Context()))
		require.Equal(t, c.want, asked, name)
	}
}

func TestTheDestroyerDoesNotRunBeforeWhatHasToGoFirstIsGone(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.detached = errors.New("Forbidden")
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []any{"failed", "CloudUnanswered", true}, []any{w.result().Outcome, w.result().Reason, w.result().Retryable})
	require.Contains(t, w.result().Message, "the destroyer did not run")
	require.False(t, w.did("installer: destroy") || w.did("cloud: remove"))
}

func TestAnotherAccountEndsATeardownBeforeAnythingIsRun(t *testing.T) {
	for name, change := range map[string]func(*world){
		"than the cluster's":  func(w *world) { w.account = "999999999999" },
		"than the identity's": func(w *world) { w.spec.Account, w.spec.Identities[0].Account = "", "999999999999" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			change(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "WrongAccount", w.result().Reason)
			require.Equal(t, []string{"server: claim answered", "cloud: account asked", "server: result answered"}, w.happened())
		})
	}
}

func TestACloudThatDoesNotAnswerEndsATeardownBeforeAnythingIsRun(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.account = ""
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "CloudUnanswered", w.result().Reason)
	require.False(t, w.did("installer:"))
}

func TestCredentialsThatAreNotAcceptedAreOurProblem(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.refused = fmt.Errorf("%w: InvalidClientTokenId", cloud.ErrCredentials)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "CredentialsRefused", w.result().Reason)
	require.Equal(t, contract.WhoseOurs, w.result().Whose)
	require.Contains(t, w.result().Message, "InvalidClientTokenId")
	require.False(t, w.result().Retryable)
	require.False(t, w.did("installer:"))
}

func TestExpiredCredentialsAreTriedAgain(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.refused = fmt.Errorf("%w: ExpiredToken", cloud.ErrCredentialsExpired)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "CredentialsExpired", w.result().Reason)
	require.True(t, w.result().Retryable)
	require.False(t, w.did("installer:"))
}

func TestAnExitCodeIsNotACount(t *testing.T) {
	left := contract.Leftover{Type: "elastic-ip", ID: "eipalloc-1", Free: "release it"}
	for name, c := range map[string]struct {
		script  string
		dirty   int // passes that count something
		outcome string
		exit    int
		passes  int
	}{
		"exit 0 and something left for good": {"", 99, "failed", 0, 3},
		"exit 0 and something left at first": {"", 2, "succeeded", 0, 4},
		"exit 1 and nothing left":            {"exit 1", 0, "succeeded", 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			w.on("destroy", c.script)
			w.verify = func(n int, t cloud.Target) contract.Pass {
				p := cleanPass(t)
				if n <= c.dirty {
					p.Clean, p.Leftovers = false, []contract.Leftover{left}
				}
				return p
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, c.outcome, w.result().Outcome)
			passes, exits := w.passesAndExits()
			require.Equal(t, c.exit, exits[0].Code)
			require.Len(t, passes, c.passes)
			if c.outcome == "failed" {
				require.Equal(t, "LeftoversFound", w.result().Reason)
				require.Contains(t, w.result().Message, "elastic-ip eipalloc-1: release it")
				require.Len(t, w.removed, 3, "after the destroyer, and after each pass but the last")
			}
		})
	}
}

func TestAPassThatDoesNotProveItselfIsNotClean(t *testing.T) {
	for name, change := range map[string]func(*contract.Pass){
		"no positive control":     func(p *contract.Pass) { p.Control = "" },
		"a refused question":      func(p *contract.Pass) { p.Queries[0].Err = "AccessDenied" },
		"an identity not asked":   func(p *contract.Pass) { p.Identities = nil },
		"leftovers, called clean": func(p *contract.Pass) { p.Leftovers = []contract.Leftover{{Type: "vpc", ID: "vpc-1"}} },
		"one clean among unclean": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			w.verify = func(n int, t cloud.Target) contract.Pass {
				p := cleanPass(t)
				switch {
				case change != nil:
					change(&p)
				case n%2 == 1:
					p.Clean = false
				}
				return p
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "LeftoversFound", w.result().Reason)
		})
	}
}

func TestAnAccountThatChangesUnderATeardownIsNoProof(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.verify = func(_ int, t cloud.Target) contract.Pass { p := cleanPass(t); p.Account = "999999999999"; return p }
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "WrongAccount", w.result().Reason)
}

func TestADestroyPastItsDeadlineIsStoppedAndCounted(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.spec.DestroyDeadline = time.Second
	w.on("destroy", hanging)
	require.NoError(t, w.run(t.Context()))
	passes, exits := w.passesAndExits()
	require.Len(t, passes, 2)
	require.Equal(t, 8, exits[0].Code)
	require.Equal(t, "succeeded", w.result().Outcome, "the count decides")
}

func TestADestroyerThatLoopsTakesItsShareOfTheDeadlineAlone(t *testing.T) {
	w := newTeardown(t, "shop-00001", "shop-00002")
	w.spec.DestroyDeadline = 2 * time.Second
	w.on("destroy", `if [ "$(infra)" = shop-00001 ]; then `+hanging+`; fi`)
	require.NoError(t, w.run(t.Context()))
	require.True(t, w.did("installer: destroy shop-00002"))
	require.Equal(t, "succeeded", w.result().Outcome)
}

func TestWhatOneDestroyerDoesNotNeedIsTheNextOnes(t *testing.T) {
	w := newTeardown(t, "shop-00001", "shop-00002")
	w.spec.DestroyDeadline = 6 * time.Second
	w.on("destroy", `if [ "$(infra)" = shop-00002 ]; then sleep 3.6; note "had its time"; fi`)
	require.NoError(t, w.run(t.Context()))
	require.True(t, w.did("installer: had its time"))
}

func TestASignalInTheMiddleOfATeardownIsToldAsStopped(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.on("destroy", hanging)
	ctx, cancel := context.WithCancel(t.Context())
	w.whenHanging(cancel)
	require.NoError(t, w.run(ctx))
	require.Equal(t, "stopped", w.result().Outcome)
	require.True(t, w.did("installer: asked"))
	passes, exits := w.passesAndExits()
	require.Empty(t, passes)
	require.Len(t, exits, 1)
}

func TestTheGapBeginsWhenTheServerHasTheFirstPass(t *testing.T) {
	w := newTeardown(t, "shop-00001")
	w.spec.VerifyGap = 50 * time.Millisecond
	var got time.Time
	refused := 0
	w.hear = func(what string, _ int, body []byte) {
		if what == "report" && strings.Contains(string(body), `"pass":{"number":1`) {
			w.mu.Lock()
			got = time.Now()
			w.mu.Unlock()
		}
	}
	w.reply = func(what string, _ int) int {
		if what == "report" && !got.IsZero() && refused < 5 {
			refused++
			return http.StatusBadGateway
		}
		return 0
	}
	var second time.Time
	w.verify = func(n int, t cloud.Target) contract.Pass {
		if n == 2 {
			second = time.Now()
		}
		return cleanPass(t)
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, 5, refused)
	require.GreaterOrEqual(t, second.Sub(got), w.spec.VerifyGap)
	passes, _ := w.passesAndExits()
	require.Len(t, passes, 2)
}

package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// runnerAttacks are those of a compromised runner: it has one attempt's token and the runner's cloud credentials.
func runnerAttacks() []attack {
	all := pick.Map(forgedRecords(), func(f forgedRecord) attack {
		return attack{name: "runner/record-" + f.name, who: "runner", tried: f.tried, short: f.short, play: f.play}
	})
	for _, f := range forgedResults() {
		all = append(all, attack{name: "runner/result-" + f.name, who: "runner", tried: f.tried, short: f.short, play: f.play})
	}
	return append(all, tokenAttacks()...)
}

// forgedRecord is a runner's record whose identity points to the victim's cluster.
type forgedRecord struct {
	name, tried, call string
	short             bool
	forge             func(ctx context.Context, t *target, r *contract.Record, v prey) error
}

// ofIdentity forges only the recorded identity.
func ofIdentity(change func(i *contract.Identity, v prey)) func(context.Context, *target, *contract.Record, prey) error {
	return func(_ context.Context, _ *target, r *contract.Record, v prey) error {
		change(&r.Identity, v)
		return nil
	}
}

// ofMetadata forges the recorded metadata and deletes the archive, so that the teardown uses the record.
func ofMetadata(change func(raw string, v prey) (string, error)) func(context.Context, *target, *contract.Record, prey) error {
	return func(ctx context.Context, t *target, r *contract.Record, v prey) (err error) {
		defer must.Catch(&err)
		r.Identity.Metadata = must.Get(change(r.Identity.Metadata, v))
		b := must.Get(t.destroyBundle(ctx, r.Snapshots))
		return t.removeObject(ctx, b.snapshot.Key)
	}
}

// ofArchive records the true metadata and forges those in the archive, which a teardown would prefer.
func ofArchive(change func(raw string, v prey) (string, error)) func(context.Context, *target, *contract.Record, prey) error {
	return func(ctx context.Context, t *target, r *contract.Record, v prey) (err error) {
		defer must.Catch(&err)
		b := must.Get(t.destroyBundle(ctx, r.Snapshots))
		forged := must.Get(change(string(b.files["metadata.json"]), v))
		b.files["metadata.json"] = []byte(forged)
		put, err := t.put(ctx, b)
		for i, s := range r.Snapshots {
			if s.Key == put.Key {
				r.Snapshots[i] = put
			}
		}
		return err
	}
}

func victimsTags(raw string, v prey) (string, error) {
	return forged(raw, map[string]any{"aws.identifier": valueOf(v.Metadata, "aws", "identifier")})
}

func victimsDomain(raw string, v prey) (string, error) {
	return forged(raw, map[string]any{"aws.clusterDomain": v.Name + "." + v.BaseDomain, "clusterName": v.Name})
}

func victimsAll(raw string, v prey) (string, error) {
	tags, err := victimsTags(raw, v)
	if err != nil {
		return "", err
	}
	return victimsDomain(tags, v)
}

func forgedRecords() []forgedRecord {
	return []forgedRecord{
		{"identifiers", "record an own infraID with metadata that carries the victim's tags, lose the archive, fail", callRecordIdentity, true, ofMetadata(victimsTags)},
		{"archive", "record true metadata, put the victim's tags, domain and name into the archive's, fail", callRecordIdentity, true, ofArchive(victimsAll)},
		{"domain", "record metadata with the victim's domain and name, lose the archive, fail", callRecordIdentity, false, ofMetadata(victimsDomain)},
		{"archive-key", "record the victim's archive as the own one, fail", callRecordIdentity, false, victimsArchive},
		{"infra-id", "record the victim's infraID, uuid and metadata, fail", callRecordIdentity, false, ofIdentity(func(i *contract.Identity, v prey) {
			i.InfraID, i.ClusterUUID, i.Metadata = v.InfraID, v.UUID, v.Metadata
		})},
		{"uuid", "record the victim's cluster uuid, fail", callRecordIdentity, false, ofIdentity(func(i *contract.Identity, v prey) { i.ClusterUUID = v.UUID })},
		{"region", "record another region, fail", callRecordIdentity, false, ofIdentity(func(i *contract.Identity, _ prey) { i.Region = "eu-central-1" })},
		{"account", "record another account, fail", callRecordIdentity, false, ofIdentity(func(i *contract.Identity, _ prey) { i.Account = "999900001111" })},
		{"cco-name", "record the victim's ccoctl name, fail", callRecordName, true, ofIdentity(func(i *contract.Identity, v prey) { i.CCOName = v.CCOName })},
	}
}

// victimsArchive records the keys of the victim's newest archive.
func victimsArchive(ctx context.Context, t *target, r *contract.Record, v prey) error {
	for i, s := range r.Snapshots {
		err := t.pool.QueryRow(ctx, `SELECT s3_key, manifest_key, checksum, size FROM artifacts WHERE cluster_id = $1 AND artifact_type = $2 ORDER BY taken_at DESC LIMIT 1`,
			v.ID, s.Type).Scan(&s.Key, &s.ManifestKey, &s.SHA256, &s.Size)
		if err != nil {
			return fmt.Errorf("read the victim's archives: %w", err)
		}
		r.Snapshots[i] = s
	}
	return nil
}

// valueOf returns a value of a JSON document; nil if there is none.
func valueOf(raw string, path ...string) any {
	var value any
	_ = json.Unmarshal([]byte(raw), &value) // what is not JSON has no value
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// forged changes existing values of metadata; dots separate levels.
func forged(raw string, values map[string]any) (string, error) {
	var metadata map[string]any
	if err := json.Unmarshal([]byte(raw), &metadata); err != nil {
		return "", fmt.Errorf("the runner's own metadata: %w", err)
	}
	for path, value := range values {
		at, name := metadata, path
		if outer, inner, nested := strings.Cut(path, "."); nested {
			at, _ = metadata[outer].(map[string]any)
			name = inner
		}
		if _, there := at[name]; !there || value == nil {
			return "", fmt.Errorf("the runner's own metadata have no %s, or the victim's have none", path)
		}
		at[name] = value
	}
	changed, err := json.Marshal(metadata)
	return string(changed), err
}

// play lets a runner work until it records, records the forged identity instead, fails, and follows the teardown. The attack
// succeeded if the victim lost anything, or if something of the victim's is stored as this cluster's.
func (f forgedRecord) play(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	k, id := must.Get2(t.capture(ctx, "rec-"+f.name, f.call))
	defer k.stop()
	var record contract.Record
	must.Do(json.Unmarshal(k.body, &record))
	must.Do(f.forge(ctx, t, &record, v))
	said := must.Get(k.ask(ctx, http.MethodPost, k.path("record"), record))
	foreign := must.Get(t.foreign(ctx, id, v))
	must.Do(t.failAndEnd(ctx, k, id))
	harm, err := t.harm(ctx, v)
	must.Do(err)
	throughIf(harm != "", "the record was answered %d, and %s: %s", said.status, v.Name, harm)
	throughIf(foreign != "", "the record was answered %d, and the row holds %s", said.status, foreign)
	return held("the record was answered %d; %s", said.status, v.unharmed())
}

// capture requests a cluster as the attacker and takes over its runner at a call.
func (t *target) capture(ctx context.Context, name, call string) (_ *taken, _ string, err error) {
	defer must.Catch(&err)
	name = name[:min(len(name), 21)]
	caught := t.relay.set(name, call)
	c := must.Get(t.as(attacker))
	id := must.Get(c.create(ctx, name))
	k, err := wait(ctx, caught)
	return k, id, err
}

// failAndEnd ends the attempt as failed and the cluster, and waits until its teardown is over or blocked.
func (t *target) failAndEnd(ctx context.Context, k *taken, id string) (err error) {
	defer must.Catch(&err)
	must.Get(k.ask(ctx, http.MethodPost, k.path("result"), contract.Result{Outcome: "failed", Reason: "InstallFailed", Message: "it failed"}))
	k.stop()
	c := must.Get(t.as(attacker))
	must.Do(c.destroy(ctx, id))
	_, err = t.becomes(ctx, id, "released", "destroy_blocked")
	return err
}

// foreign says what of a cluster's recorded identity is not its own; empty: nothing.
func (t *target) foreign(ctx context.Context, id string, v prey) (string, error) {
	var found []string
	err := t.pool.QueryRow(ctx, `
		SELECT array_remove(ARRAY[
			CASE WHEN a.infra_id = $2 OR a.metadata::text LIKE '%' || $2 || '%' THEN 'the victim''s infraID' END,
			CASE WHEN a.cluster_uuid = $3 OR a.metadata::text LIKE '%' || $3 || '%' THEN 'the victim''s uuid' END,
			CASE WHEN a.cco_name = $4 THEN 'the victim''s ccoctl name' END,
			CASE WHEN a.metadata::text LIKE '%' || $5 || '%' THEN 'the victim''s name in its metadata' END,
			CASE WHEN a.account <> $6 THEN 'the account ' || a.account END,
			CASE WHEN a.region <> c.region THEN 'the region ' || a.region END,
			(SELECT 'an archive under ' || min(s.s3_key) FROM artifacts s WHERE s.cluster_id = c.id AND s.s3_key NOT LIKE '%' || c.id || '%')], NULL)
		  FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE c.id = $1 ORDER BY a.number LIMIT 1`,
		id, v.InfraID, v.UUID, v.CCOName, v.Name, v.Account).Scan(&found)
	return strings.Join(found, ", "), err
}

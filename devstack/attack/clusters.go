package attack

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// smallProfile is the profile of the attacks' clusters.
const smallProfile = "aws-minimal-test"

// create requests a cluster of the caller's only team and returns its id.
func (c caller) create(ctx context.Context, name string) (string, error) {
	return c.createFrom(ctx, v1.CreateRequest{Name: name, Profile: smallProfile})
}

func (c caller) createFrom(ctx context.Context, r v1.CreateRequest) (string, error) {
	var made v1.Accepted
	err := c.expect(ctx, http.StatusAccepted, &made, http.MethodPost, "/api/v1/clusters", r, "Idempotency-Key", "attack-"+r.Name)
	return made.ClusterID, err
}

// destroy requests a cluster's end.
func (c caller) destroy(ctx context.Context, cluster string) error {
	return c.expect(ctx, http.StatusAccepted, nil, http.MethodPost, "/api/v1/clusters/"+cluster+"/destroy", struct{}{})
}

// state is a cluster's state in the database.
type state struct{ ID, Name, Status, Phase, Desired, Why string }

func (s state) String() string {
	return fmt.Sprintf("%s is %s/%s (%s)", s.Name, s.Status, s.Phase, s.Why)
}

func (t *target) state(ctx context.Context, id string) (state, error) {
	rows, err := t.pool.Query(ctx, "SELECT id, name, status, phase, desired, coalesce(why ->> 'words', why::text) AS why FROM clusters WHERE id = $1", id)
	if err != nil {
		return state{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[state])
}

// becomes waits until a cluster is in one of the phases and returns its state.
func (t *target) becomes(ctx context.Context, id string, phases ...string) (now state, err error) {
	err = await(ctx, id+" to be "+strings.Join(phases, " or "), func(ctx context.Context) (bool, error) {
		if now, err = t.state(ctx, id); err != nil {
			return false, err
		}
		if slices.Contains(phases, now.Phase) {
			return true, nil
		}
		return false, fmt.Errorf("%s", now)
	})
	return now, err
}

// ready requests a cluster and waits until it is ready.
func (t *target) ready(ctx context.Context, who oidc.Claims, name string) (_ string, err error) {
	defer must.Catch(&err)
	c := must.Get(t.as(who))
	id := must.Get(c.create(ctx, name))
	_, err = t.becomes(ctx, id, "ready")
	return id, err
}

// prey is a ready cluster of another team, with everything that is counted before and after an attack.
type prey struct {
	ID, Name, BaseDomain, Region          string
	InfraID, CCOName, UUID, Account       string
	Metadata, KubeconfigRef, KubeadminRef string

	owner              oidc.Claims
	resources, buckets int
	kubeconfig         string
}

// victimOf returns a ready cluster of the victim's team that no attack of this side has harmed; it creates one if there is none.
func (t *target) victimOf(ctx context.Context) (prey, error) {
	t.counted.Lock()
	defer t.counted.Unlock()
	if t.prey != nil {
		if harm, err := t.harm(ctx, *t.prey); err != nil || harm == "" {
			return *t.prey, err
		}
		delete(t.victims, t.prey.Name)
	}
	p, err := t.newPrey(ctx, victim, t.unique("victim"))
	if err == nil {
		t.prey, t.victims[p.Name] = &p, p
	}
	return p, err
}

// unique returns a cluster name that no attack has used.
func (t *target) unique(begin string) string { return fmt.Sprintf("%s-%d", begin, t.names.Add(1)) }

func (t *target) newPrey(ctx context.Context, who oidc.Claims, name string) (prey, error) {
	id, err := t.ready(ctx, who, name)
	if err != nil {
		return prey{}, err
	}
	return t.preyOf(ctx, who, id)
}

// preyOf counts a ready cluster's resources.
func (t *target) preyOf(ctx context.Context, who oidc.Claims, id string) (_ prey, err error) {
	defer must.Catch(&err)
	rows := must.Get(t.pool.Query(ctx, `
		SELECT c.id, c.name, c.base_domain, c.region, a.infra_id, a.cco_name, a.cluster_uuid AS uuid, a.account, a.metadata::text AS metadata,
		       o.kubeconfig_s3_uri AS kubeconfig_ref, o.kubeadmin_secret_ref AS kubeadmin_ref
		  FROM clusters c JOIN attempts a ON a.cluster_id = c.id JOIN cluster_outputs o ON o.cluster_id = c.id
		 WHERE c.id = $1 AND a.infra_id <> ''`, id))
	p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[prey])
	must.Wrap(err, "read the victim's identity")
	p.resources, p.buckets = must.Get2(t.countOf(p))
	must.FailIf(p.resources == 0 || p.buckets == 0, "the victim has nothing in the cloud that could be counted")
	p.owner = who
	p.kubeconfig, err = t.kubeconfigOf(ctx, who, id)
	return p, err
}

// countOf counts a cluster's resources in the stand-in cloud, and its buckets.
func (t *target) countOf(p prey) (resources, buckets int, err error) {
	for _, name := range []string{p.InfraID, p.CCOName, p.Name + "." + p.BaseDomain} {
		resources += len(t.AWS.Resources(name))
		found, err := filepath.Glob(filepath.Join(t.Dir, "s3", "buckets", "*"+name+"*"))
		if err != nil {
			return 0, 0, err
		}
		buckets += len(found)
	}
	return resources, buckets, nil
}

// kubeconfigOf reads a cluster's kubeconfig through the API.
func (t *target) kubeconfigOf(ctx context.Context, who oidc.Claims, cluster string) (_ string, err error) {
	defer must.Catch(&err)
	c := must.Get(t.as(who))
	got := must.Get(c.ask(ctx, http.MethodGet, "/api/v1/clusters/"+cluster+"/kubeconfig?wait=20", nil))
	must.FailIf(got.status != http.StatusOK, "the kubeconfig of %s: %d %.200s", cluster, got.status, got.body)
	return string(got.body), nil
}

// harm says what a cluster lost since it was counted; empty: nothing.
func (t *target) harm(ctx context.Context, p prey) (_ string, err error) {
	defer must.Catch(&err)
	var harm []string
	now := must.Get(t.state(ctx, p.ID))
	if now.Phase != "ready" {
		harm = append(harm, now.String())
	}
	resources, buckets := must.Get2(t.countOf(p))
	if resources != p.resources || buckets != p.buckets {
		harm = append(harm, fmt.Sprintf("%d → %d of its resources and %d → %d of its buckets are left while it is %s",
			p.resources, resources, p.buckets, buckets, now.Status))
	}
	if now.Phase == "ready" {
		kubeconfig, err := t.kubeconfigOf(ctx, p.owner, p.ID)
		if err != nil || kubeconfig != p.kubeconfig {
			harm = append(harm, "its kubeconfig is another one")
		}
	}
	return strings.Join(harm, "; "), nil
}

// unharmed returns the evidence that a victim lost nothing.
func (p prey) unharmed() string {
	return fmt.Sprintf("%s is READY with its %d resources", p.Name, p.resources)
}

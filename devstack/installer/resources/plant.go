package resources

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// planted is the input of the stand-in AWS's administration API for resources that no call of ours could create.
type planted struct {
	Service string              `json:"service,omitempty"`
	Type    string              `json:"type,omitempty"`
	ID      string              `json:"id,omitempty"`
	Account string              `json:"account,omitempty"`
	Region  string              `json:"region,omitempty"`
	VPC     string              `json:"vpc,omitempty"`
	State   string              `json:"state,omitempty"`
	Uses    []string            `json:"uses,omitempty"`
	Tags    map[string]string   `json:"tags,omitempty"`
	Attrs   map[string]string   `json:"attrs,omitempty"`
	Values  map[string][]string `json:"values,omitempty"`
}

// ForeignResource adds a database with the cluster's tag to the account.
func (b *Build) ForeignResource(ctx context.Context) error {
	account, err := b.account(ctx)
	if err != nil {
		return err
	}
	arn := fmt.Sprintf("arn:aws:rds:%s:%s:db:%s-orders", b.Region, account, b.InfraID)
	_, err = b.postAdmin(ctx, "plant", map[string]any{"resource": planted{
		ID: arn, Service: "rds", Type: "db", Tags: map[string]string{KubernetesTag(b.InfraID): "owned", "Name": b.InfraID + "-orders"},
	}})
	return err
}

// ForeignInterface adds an interface that another service manages to the cluster's network. It uses the nodes' security group, and
// only that service can delete it.
func (b *Build) ForeignInterface(ctx context.Context) (err error) {
	defer must.Catch(&err)
	account := must.Get(b.account(ctx))
	made := must.Get(b.postAdmin(ctx, "plant", map[string]any{"resource": planted{
		Service: "ec2", Type: "network-interface", Account: account, Region: b.Region, VPC: b.vpc, State: "in-use", Uses: []string{b.nodeGroup, b.privateSubnets[0], b.vpc},
		Attrs:  map[string]string{"subnet-id": b.privateSubnets[0], "description": "AWS Lambda VPC ENI-reports", "requester-id": "AROALAMBDA:reports", "interface-type": "lambda"},
		Values: map[string][]string{"groups": {b.nodeGroup}},
	}}))
	_, err = b.postAdmin(ctx, "pin", map[string]any{"id": made.ID})
	return err
}

// account returns the account of the control plane's role, which is ours.
func (b *Build) account(ctx context.Context) (string, error) {
	out, err := b.sts.GetCallerIdentity(ctx, nil)
	if err != nil {
		return "", err
	}
	return *out.Account, nil
}

// postAdmin calls the stand-in's administration API. Open has checked that its address is on this machine.
func (b *Build) postAdmin(ctx context.Context, call string, body any) (out planted, err error) {
	defer must.Catch(&err)
	raw := must.Get(json.Marshal(body))
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("AWS_ENDPOINT_URL")+"/_standin/"+call, bytes.NewReader(raw)))
	resp := must.Get(http.DefaultClient.Do(req))
	defer resp.Body.Close()
	must.FailIf(resp.StatusCode != http.StatusOK, "%s: %s", req.URL, resp.Status)
	return out, json.NewDecoder(resp.Body).Decode(&out)
}

// AsOperator lets this process use the stand-in AWS at an address with the key of an administrator of the account that has the cluster of a domain,
// as the operators of a cluster have roles.
func AsOperator(ctx context.Context, address, domain string) (err error) {
	defer must.Catch(&err)
	must.EndIf(address == "", ErrNoCluster)
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		must.Do(errors.Join(os.Setenv(name, address), loopback(name)))
	}
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, address+"/_standin/key?domain="+url.QueryEscape(domain), nil))
	resp := must.Get(http.DefaultClient.Do(req))
	defer resp.Body.Close()
	var key struct{ ID, Secret string }
	must.FailIf(resp.StatusCode != http.StatusOK, "%s: %s", req.URL, resp.Status)
	must.Do(json.NewDecoder(resp.Body).Decode(&key))
	return errors.Join(os.Setenv("AWS_ACCESS_KEY_ID", key.ID), os.Setenv("AWS_SECRET_ACCESS_KEY", key.Secret), os.Unsetenv("AWS_SESSION_TOKEN"))
}

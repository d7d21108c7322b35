package pulls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// DispatchEvent is a repository_dispatch: a request from a repository's workflow.
type DispatchEvent struct {
	Installation int64
	Repo         string // the sender
	Type         string // create_ephemeral_cluster or delete_ephemeral_cluster; any other is ignored
	Payload      json.RawMessage
	Actor        string // login
	ActorID      int64
	Bot          bool   // the actor's account is a bot's, by its type
	Cause        string // the same for two deliveries of one event, e.g. the delivery's id
}

// The repository_dispatch types that are handled.
const (
	dispatchCreate = "create_ephemeral_cluster"
	dispatchDelete = "delete_ephemeral_cluster"
)

// payload is the part of client_payload that is used. Workflows also write numbers and booleans as strings.
type payload struct {
	Number     word   `json:"pr_number"`
	Repository string `json:"repository"` // owner/name, or a name with the sender's owner
	Cluster    string `json:"cluster_name"`
	Postgres   word   `json:"install_postgres"`
}

// word is a value as text, whether it was written as a string or not.
type word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		*w = word(strings.TrimSpace(text))
		return nil
	}
	*w = word(bytes.TrimSpace(raw))
	return nil
}

// Dispatch does what a repository_dispatch asks for and replies on the pull request that it names. The sender is judged by their
// permission on the named repository, which may be another than the sending one.
func (s *Service) Dispatch(ctx context.Context, e DispatchEvent) (note string, err error) {
	if e.Type != dispatchCreate && e.Type != dispatchDelete {
		return "nothing listens to " + chatops.Code(e.Type), nil
	}
	p, repo, number, problem := e.readPayload()
	if problem != "" {
		return problem, nil
	}
	c, err := s.commandOf(ctx, e, repo, number)
	if err != nil || c == nil {
		return "no repository " + repo + " that " + e.Actor + " may ask for", err
	}
	return s.runOnce(ctx, *c, func(c command) (string, string, error) {
		if e.Type == dispatchDelete {
			return s.deleteByDispatch(ctx, c, p.Cluster)
		}
		return s.createByDispatch(ctx, c, p)
	})
}

// About returns the pull request that the event names; ok is false if it names none.
func (e DispatchEvent) About() (repo string, number int, ok bool) {
	_, repo, number, problem := e.readPayload()
	return repo, number, problem == ""
}

// readPayload parses the payload; problem says why it is invalid.
func (e DispatchEvent) readPayload() (p payload, repo string, number int, problem string) {
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return p, "", 0, "client_payload is no object with text in repository and cluster_name"
	}
	number, err := strconv.Atoi(string(p.Number))
	if err != nil || number < 1 || number > math.MaxInt32 {
		return p, "", 0, fmt.Sprintf("pr_number is %s, but must be the number of a pull request", chatops.Code(string(p.Number)))
	}
	repo, ok := besideSender(e.Repo, p.Repository)
	if !ok {
		return p, "", 0, fmt.Sprintf("repository is %s, but must be owner/name, or a name under the owner of %s", chatops.Code(p.Repository), e.Repo)
	}
	return p, repo, number, ""
}

// besideSender returns the named repository: owner/name, a name with the sender's owner, or the sender itself.
func besideSender(sender, named string) (repo string, ok bool) {
	owner, _, _ := strings.Cut(sender, "/")
	if named = strings.TrimSpace(named); named == "" {
		return sender, true
	}
	if before, name, whole := strings.Cut(named, "/"); whole {
		owner, named = before, name
	}
	return owner + "/" + named, app.IsRepositoryName(owner) && app.IsRepositoryName(named)
}

// commandOf returns the command that an event stands for; nil: there is no such repository for the sender. It is nil in the
// same way for a repository without the App, one without an entry in the configuration, and one that the sender cannot read.
func (s *Service) commandOf(ctx context.Context, e DispatchEvent, repo string, number int) (*command, error) {
	if s.core.OwnershipOf(repo).Team == "" {
		return nil, nil
	}
	installation, err := s.github.InstallationOf(ctx, repo)
	if err != nil {
		return nil, fmt.Errorf("ask for the App's installation on %s: %w", repo, err)
	}
	switch {
	case installation == 0 && strings.EqualFold(repo, e.Repo): // GitHub has just sent an event of it
		return nil, fmt.Errorf("ask for the App's installation on %s: %w", repo, app.ErrRefused)
	case installation == 0:
		return nil, nil
	}
	event := CommentEvent{Installation: installation, Repo: repo, Number: number, Author: e.Actor, AuthorID: e.ActorID, Bot: e.Bot}
	permission, _, err := s.askPermission(ctx, installation, repo, e.actorOf())
	if err != nil {
		return nil, err
	}
	if permission == "none" || permission == "" {
		return nil, nil
	}
	if note, err := s.noteIfAnsweredEnough(ctx, event); note != "" || err != nil {
		return nil, err
	}
	pr, err := s.pullRequest(ctx, event, true)
	if err != nil {
		return nil, err
	}
	request, err := s.newRequest(ctx, policy.SourceComment, pr, e.actorOf())
	if err != nil {
		return nil, err
	}
	s.countAnswer(event, request, 1)
	verb := chatops.VerbCreate
	if e.Type == dispatchDelete {
		verb = chatops.VerbDestroy
	}
	return &command{
		event: event, pr: pr, request: request, cause: "dispatch:" + e.Cause, by: "by repository_dispatch from " + e.Repo,
		Command: chatops.Command{Verb: verb},
	}, nil
}

// createByDispatch requests the default profile's cluster. Workflows ask at every push, so an existing cluster gets no reply.
func (s *Service) createByDispatch(ctx context.Context, c command, p payload) (reply, note string, err error) {
	w, err := s.toClusterRequest(ctx, c.request, c.pr)
	if err != nil {
		return "", "", err
	}
	w.Request.TTL = ttlFromLabels(c.pr.Labels)
	if w.Request.Profile, err = s.profileOf(ctx, w.Request); err != nil {
		return "", "", err
	}
	if strings.EqualFold(string(p.Postgres), "true") {
		w.Notes = append(w.Notes, policy.Check{
			Name: "install_postgres", Result: policy.Warn, Asked: "true", Accept: "false",
			Message: "install_postgres asks for a database in the cluster, which ocpctl does not install.", Next: "Install it from the workflow once the cluster is ready.",
		})
	}
	live, err := s.listLive(ctx, c.pr.Repo, c.pr.Number)
	if err != nil {
		return "", "", err
	}
	if i := slices.IndexFunc(live, func(r clusters.Row) bool { return r.Profile == w.Request.Profile }); i >= 0 {
		return "", live[i].Name + " is there already", nil
	}
	return s.createOnce(ctx, c, w)
}

// deleteByDispatch destroys the cluster of that name, else that of the profile which such an event creates, else the only one.
// Other programs name clusters by other rules, so an unknown name is not an error.
func (s *Service) deleteByDispatch(ctx context.Context, c command, name string) (reply, note string, err error) {
	if verdict := policy.Authorize(c.request, c.Verb.Act(), nil); !verdict.Allowed {
		return "", "", declined{chatops.Refusal(c.event.Author, verdict), refusalNote(string(c.Verb), verdict)}
	}
	w, err := s.toClusterRequest(ctx, c.request, c.pr)
	if err != nil {
		return "", "", err
	}
	created, err := s.profileOf(ctx, w.Request)
	if err != nil {
		return "", "", err
	}
	live, err := s.listLive(ctx, c.pr.Repo, c.pr.Number)
	if err != nil {
		return "", "", err
	}
	for _, meant := range []func(clusters.Row) bool{
		func(r clusters.Row) bool { return r.Name == name },
		func(r clusters.Row) bool { return r.Profile == created },
	} {
		if i := slices.IndexFunc(live, meant); i >= 0 {
			return s.destroyCluster(ctx, c, live[i])
		}
	}
	row, err := s.liveOne(ctx, c)
	var said *app.Error
	if errors.As(err, &said) && said.Kind == app.NotFound {
		return "", "nothing is left to take down", nil
	}
	if err != nil {
		return "", "", err
	}
	return s.destroyCluster(ctx, c, row)
}

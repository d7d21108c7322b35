package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// mostDocument is the largest document that can be proposed, in bytes.
const mostDocument = 64 << 10

// documentName is how a file of a catalogue is named. Other characters could change the meaning of a path or an address.
var documentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.yaml$`)

// Documents returns the catalogue's files by their paths, for those who may propose a change.
func (s *Service) Documents(p policy.Principal) (map[string]string, error) {
	if err := s.mayPropose(p); err != nil {
		return nil, err
	}
	return s.catalogue().Files(), nil
}

func (s *Service) mayPropose(p policy.Principal) error {
	if err := app.MayForEverybody(p, policy.ActCatalogue, "propose a change of the catalogue"); err != nil {
		return err
	}
	if s.home.Repository == "" {
		return app.Fail(app.Conflict, "The server does not know where the catalogue's files are edited. Set catalogue.repository in its configuration.")
	}
	return nil
}

// Propose asks to open a pull request on the catalogue's repository with a changed or new document. The catalogue with the document has to be
// valid. A worker opens it; Proposal says what came of that.
func (s *Service) Propose(ctx context.Context, p policy.Principal, file, document, title string, origin app.Origin) (effect string, err error) {
	if err := s.mayPropose(p); err != nil {
		return "", err
	}
	files, text := s.catalogue().Files(), strings.ReplaceAll(document, "\r\n", "\n")
	was := files[file]
	wrong := checkDocument(file, text, was, title)
	if len(wrong) == 0 {
		files[file] = text
		_, problems, err := s.loadFiles(files)
		if err != nil {
			return "", err
		}
		for _, problem := range problems {
			wrong = append(wrong, app.Field{Name: "document", Detail: strings.TrimSuffix(locate(problem)+problem.Got, ".") + ".", Accept: acceptOf(problem)})
		}
	}
	if len(wrong) > 0 {
		return "", &app.Error{Kind: app.Invalid, Message: "The change cannot be proposed.", Fields: wrong}
	}
	content, err := json.Marshal(chatops.CatalogueProposal{Path: s.home.PathOf(file), Was: was, Now: text, Title: title, By: s.core.NameOf(p.ID)})
	if err != nil {
		return "", fmt.Errorf("encode the proposal: %w", err)
	}
	state, err := s.store.Outbox.AskEffect(ctx, clusters.Effect{
		Cause: "propose:" + origin.IdempotencyKey(p), Kind: outbox.EffectProposeCatalogue, Repo: s.home.Repository, Content: string(content),
	}, s.core.StoreOrigin(origin, p), "catalogue.proposed")
	if err != nil {
		return "", fmt.Errorf("ask for a proposal: %w", err)
	}
	return state.ID, nil
}

// Proposal returns the state of a change that Propose asked for.
func (s *Service) Proposal(ctx context.Context, p policy.Principal, id string) (outbox.EffectState, error) {
	if err := s.mayPropose(p); err != nil {
		return outbox.EffectState{}, err
	}
	state, err := s.store.Outbox.EffectState(ctx, id)
	if errors.Is(err, db.ErrNotFound) || err == nil && state.Kind != outbox.EffectProposeCatalogue {
		return outbox.EffectState{}, app.Fail(app.NotFound, fmt.Sprintf("There is no proposal %q. Finished ones are deleted after a while.", id))
	}
	if err != nil {
		return outbox.EffectState{}, fmt.Errorf("read the state of a proposal: %w", err)
	}
	return state, nil
}

// checkDocument reports what is wrong with a proposal besides the catalogue that it leads to.
func checkDocument(file, text, was, title string) (wrong []app.Field) {
	refuse := func(name, detail string, accept ...string) {
		wrong = append(wrong, app.ProblemOf(name, messages.Problem{Detail: detail, Accept: accept}))
	}
	folder, name, _ := strings.Cut(file, "/")
	if !slices.Contains(profiles.Folders(), folder) || !documentName.MatchString(name) {
		refuse("file", fmt.Sprintf("%.100q is not a file of a catalogue.", file), "<folder>/<name>.yaml; the name has letters, digits, dots, dashes and underscores, and the folder is one of "+strings.Join(profiles.Folders(), ", "))
	}
	switch {
	case len(text) > mostDocument:
		refuse("document", fmt.Sprintf("It has %d bytes.", len(text)), fmt.Sprintf("at most %d bytes", mostDocument))
	case strings.TrimSpace(text) == "":
		refuse("document", "It is empty.", "a document in YAML")
	case text == was:
		refuse("document", "It is the active document, unchanged.", "a changed document")
	}
	if trimmed := strings.TrimSpace(title); trimmed == "" || len(title) > 200 || strings.ContainsAny(title, "\r\n") {
		refuse("title", "The pull request needs a title of one line.", "1 to 200 characters")
	}
	return wrong
}

func locate(p profiles.Problem) string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s, line %d", p.File, p.Line)
	}
	if p.Field != "" {
		where += ", " + p.Field
	}
	if where == "" {
		return ""
	}
	return where + ": "
}

func acceptOf(p profiles.Problem) []string {
	if p.Accept == "" {
		return nil
	}
	return []string{p.Accept}
}

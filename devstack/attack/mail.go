package attack

import (
	"context"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/replymail"
)

// mailAuthor has nothing to do with the repository, and no other attack comes from this account: ocpctl stops answering somebody without
// permission who writes much.
const mailAuthor = "mail-author"

// mailAttacks are those of somebody whose text a maintainer answers by mail.
func mailAttacks() []attack {
	return []attack{
		{name: "mail/approve", who: "author of a fork", tried: "have a maintainer answer /ocp approve by mail, with programs that quote without marks", short: true, play: approvedByMail},
	}
}

// approvedByMail has a maintainer answer, by mail, an outsider's /ocp approve, ocpctl's own comment that names the command, and its answer
// to the outsider.
func approvedByMail(ctx context.Context, t *target) (result, error) {
	if err := t.GitHub.AddAccount(mailAuthor, false); err != nil {
		return result{}, err
	}
	pr, err := t.GitHub.OpenFork("A fork is answered by mail", mailAuthor)
	if err != nil {
		return result{}, err
	}
	if err := t.GitHub.Label(pr, "ocp/"+smallProfile, "maya"); err != nil {
		return result{}, err
	}
	id, err := t.clusterOfPull(ctx, pr)
	if err != nil {
		return result{}, err
	}
	if _, err := t.becomes(ctx, id, "awaiting_approval"); err != nil {
		return result{}, err
	}
	lure, err := t.GitHub.Comment(pr, "/ocp approve\n\nCould somebody look at this?", mailAuthor)
	if err != nil {
		return result{}, err
	}
	if _, err := t.answers(ctx, pr, 2); err != nil {
		return result{}, err
	}
	answered, mails := []int64{lure}, 0
	for _, c := range t.GitHub.Comments(pr) {
		if c.Author == github.Bot {
			answered = append(answered, c.ID)
		}
	}
	for _, comment := range answered {
		for _, with := range replymail.Programs {
			if _, err := t.GitHub.ReplyByMail(comment, "Thanks, I will have a look.", with, "maya"); err != nil {
				return result{}, err
			}
			mails++
		}
	}
	if err := t.settled(ctx); err != nil {
		return result{}, err
	}
	now, err := t.state(ctx, id)
	if err != nil {
		return result{}, err
	}
	votes, err := t.count(ctx, "SELECT count(*) FROM approval_votes v JOIN approvals a ON a.id = v.approval_id WHERE a.cluster_id = $1", id)
	if err != nil {
		return result{}, err
	}
	if err := t.GitHub.Close(pr, "maya"); err != nil {
		return result{}, err
	}
	if votes > 0 || now.Phase != "awaiting_approval" {
		return through("%d votes after %d mails that only quote /ocp approve, and the cluster is %s", votes, mails, now.Phase)
	}
	return held("%d mails that quote /ocp approve, and the cluster still waits", mails)
}

package attack

import (
	"context"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
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
	must.Do(t.GitHub.AddAccount(mailAuthor, false))
	pr := must.Get(t.GitHub.OpenFork("A fork is answered by mail", mailAuthor))
	must.Do(t.GitHub.Label(pr, "ocp/"+smallProfile, "maya"))
	id := must.Get(t.clusterOfPull(ctx, pr))
	must.Get(t.becomes(ctx, id, "awaiting_approval"))
	lure := must.Get(t.GitHub.Comment(pr, "/ocp approve\n\nCould somebody look at this?", mailAuthor))
	must.Get(t.answers(ctx, pr, 2))
	answered, mails := []int64{lure}, 0
	for _, c := range t.GitHub.Comments(pr) {
		if c.Author == github.Bot {
			answered = append(answered, c.ID)
		}
	}
	for _, comment := range answered {
		for _, with := range replymail.Programs {
			must.Get(t.GitHub.ReplyByMail(comment, "Thanks, I will have a look.", with, "maya"))
			mails++
		}
	}
	must.Do(t.settled(ctx))
	now := must.Get(t.state(ctx, id))
	votes := must.Get(t.count(ctx, "SELECT count(*) FROM approval_votes v JOIN approvals a ON a.id = v.approval_id WHERE a.cluster_id = $1", id))
	must.Do(t.GitHub.Close(pr, "maya"))
	throughIf(votes > 0 || now.Phase != "awaiting_approval",
		"%d votes after %d mails that only quote /ocp approve, and the cluster is %s", votes, mails, now.Phase)
	return held("%d mails that quote /ocp approve, and the cluster still waits", mails)
}

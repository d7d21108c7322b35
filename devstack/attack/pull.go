package attack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/replymail"
)

// pullAttacks are those of somebody with a GitHub account on a pull request.
func pullAttacks() []attack {
	return []attack{
		{name: "pull/edited", who: "writer, editing", tried: "edit a comment so that it says /ocp destroy", play: editedComment},
		{name: "pull/quoted", who: "writer", tried: "commands in code, quotes, lists, HTML comments and behind other words", play: quotedCommands},
		{name: "pull/bots", who: "bot with write", tried: "commands in comments of bots, the App's own among them", play: botComments},
		{name: "pull/outsider", who: "reader, triager", tried: "every command by who may read or triage", short: true, play: outsidersCommands},
		{name: "pull/bot-label", who: "bot with write", tried: "a label that a bot sets, which may do so for anybody", play: botsLabel},
		{name: "pull/triage-label", who: "triager", tried: "ask for a cluster with a label", play: triagersLabel},
		{name: "pull/click", who: "reader", tried: "click Destroy of a check run", play: outsidersClicks},
		{name: "pull/foreign-click", who: "writer of another repository", tried: "click a button of a check run that names the victim's cluster", play: foreignClick},
		{name: "pull/fork-push-after", who: "author of a fork", tried: "push right after /ocp approve, before it is worked", play: forkRace(true)},
		{name: "pull/fork-push-before", who: "author of a fork", tried: "push right before /ocp approve, told of after it", play: forkRace(false)},
		{name: "pull/label-of-nobody", who: "a reader of our webhooks", tried: "a webhook of a label that GitHub does not have, while GitHub cannot be asked", play: labelOfNobody},
		{name: "pull/future", who: "a reader of our webhooks", tried: "a webhook from an hour ahead, so that nothing after it is believed", play: fromTheFuture},
	}
}

// goesOn checks that everything was processed and that the cluster goes on.
func (t *target) goesOn(ctx context.Context, id, tried string) (result, error) {
	must.Do(t.settled(ctx))
	text, err := t.ending(ctx, id)
	must.Do(err)
	throughIf(text != "", "%s: %s", tried, text)
	return held("%s, and the cluster goes on", tried)
}

func editedComment(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Comments are edited"))
	for _, c := range []struct{ author, editor string }{{"maya", "maya"}, {"outsider", "maya"}, {"maya", "outsider"}} {
		comment := must.Get(t.GitHub.Comment(pr.Number, "Looks good to me.", c.author))
		must.Do(t.GitHub.EditComment(comment, "/ocp destroy", c.editor))
		must.Do(t.GitHub.DeleteComment(comment, c.editor))
	}
	return t.goesOn(ctx, id, "3 comments edited into /ocp destroy and deleted")
}

func quotedCommands(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Commands are quoted"))
	bodies := []string{
		"> /ocp destroy", "```\n/ocp destroy\n```", "~~~sh\n/ocp destroy\n~~~", "    /ocp destroy", "`/ocp destroy`", "- /ocp destroy", "1. /ocp destroy",
		"<!-- \n/ocp destroy\n-->", "Please type /ocp destroy", "<pre>\n/ocp destroy\n</pre>", "<details>\n```\n/ocp destroy\n```\n</details>",
		"````\n```\n/ocp destroy\n```\n````", "\\/ocp destroy", "# /ocp destroy", "/ocpdestroy", "*/ocp destroy*",
	}
	for _, body := range bodies {
		must.Get(t.GitHub.Comment(pr.Number, body, "maya"))
	}
	return t.goesOn(ctx, id, fmt.Sprintf("%d comments that quote /ocp destroy", len(bodies)))
}

func botComments(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Bots comment"))
	for _, bot := range []string{github.Bot, "dependabot[bot]", "triage-bot[bot]"} {
		if bot != github.Bot {
			must.Do(t.GitHub.SetPermission(bot, "write"))
		}
		must.Get(t.GitHub.Comment(pr.Number, "/ocp destroy", bot))
	}
	must.Do(t.GitHub.CommentByApp(pr.Number, "/ocp destroy", "maya"))
	return t.goesOn(ctx, id, "3 bots and an App in a person's name commented /ocp destroy")
}

func outsidersCommands(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Outsiders comment"))
	before := must.Get(t.digest(ctx, id))
	commands := []string{"destroy", "extend 8h", "scale 2", "retry", "hold 4h x", "unhold", "share @outsider use", "kubeconfig", "create aws-standard", "approve", "transfer payments rob", "refresh"}
	for _, who := range []string{"outsider", "rita", "rob"} {
		for _, command := range commands {
			must.Get(t.GitHub.Comment(pr.Number, "/ocp "+command, who))
		}
	}
	must.Do(t.settled(ctx))
	after := must.Get(t.digest(ctx, id))
	n, err := t.count(ctx, "SELECT count(*) FROM clusters WHERE pr_number = $1", pr.Number)
	must.Do(err)
	throughIf(before != after || n != 1, "%s became %s, and there are %d clusters", before, after, n)
	return held("%d commands by who may read or triage changed nothing", 3*len(commands))
}

// digest returns everything about a cluster that people may change, as text.
func (t *target) digest(ctx context.Context, id string) (text string, err error) {
	err = t.pool.QueryRow(ctx, `
		SELECT format('%s %s until %s hold %s workers %s team %s shares %s', desired, coalesce(end_pr_closed::text, ''), end_ttl, end_hold, workers_wanted, team,
		       (SELECT count(*) FROM shares WHERE cluster_id = c.id)) FROM clusters c WHERE id = $1`, id).Scan(&text)
	return text, err
}

// noCluster checks that everything was processed and that a pull request has no cluster.
func (t *target) noCluster(ctx context.Context, pr int, tried string) (result, error) {
	must.Do(t.settled(ctx))
	var id, source, by string
	err := t.pool.QueryRow(ctx, "SELECT coalesce(max(id), ''), coalesce(max(source), ''), coalesce(max(requested_by), '') FROM clusters WHERE pr_number = $1", pr).Scan(&id, &source, &by)
	must.Do(err)
	throughIf(id != "", "%s, and there is a cluster by %s for %s", tried, source, by)
	return held("%s, and there is no cluster", tried)
}

func botsLabel(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.Open("A bot labels", "maya"))
	const bot = "triage-bot[bot]"
	must.Do(errors.Join(t.GitHub.SetPermission(bot, "write"), t.GitHub.Label(pr, "ocp/"+smallProfile, bot)))
	return t.noCluster(ctx, pr, "a bot with write set ocp/"+smallProfile)
}

func triagersLabel(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.Open("A triager labels", "maya"))
	must.Do(t.GitHub.Label(pr, "ocp/"+smallProfile, "rob"))
	must.Do(t.settled(ctx))
	if err := t.GitHub.Push(pr, "maya"); err != nil { // an event of somebody with permission
		return result{}, err
	}
	return t.noCluster(ctx, pr, "a triager set ocp/"+smallProfile+" and a writer pushed")
}

// checkOf returns the newest check run of a pull request's cluster.
func (t *target) checkOf(ctx context.Context, pr int) (check github.Check, err error) {
	err = await(ctx, "the check run with its buttons", func(context.Context) (bool, error) {
		for _, c := range t.GitHub.Checks(pr) {
			if c.ExternalID != "" && len(c.Actions) > 0 {
				check = c
			}
		}
		return check.ID != 0, nil
	})
	return check, err
}

func outsidersClicks(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Outsiders click"))
	check := must.Get(t.checkOf(ctx, pr.Number))
	for _, who := range []string{"outsider", "rita", "rob", "nobody-known"} {
		body := must.Get(github.Payload(github.Event{Name: "check_run", Action: "requested_action", Sender: who, Check: check, Button: "destroy", OnHead: []github.PullRequest{pr}}))
		must.Get2(github.Post(ctx, t.hook(), "check_run", github.GUID(), body))
	}
	return t.goesOn(ctx, id, "4 clicks on Destroy by who may not write")
}

func foreignClick(ctx context.Context, t *target) (result, error) {
	pr, id := must.Get2(t.onPull(ctx, "Others click"))
	check := must.Get(t.checkOf(ctx, pr.Number))
	must.Do(t.GitHub.In(github.SecondRepo).SetPermission("outsider", "admin"))
	other := github.RepoRef{ID: 1002, Name: github.SecondRepo}
	for _, button := range []string{"destroy", "extend", "retry"} {
		body := must.Get(github.Payload(github.Event{Name: "check_run", Action: "requested_action", Sender: "outsider", Repo: other, Check: check, Button: button}))
		must.Get2(github.Post(ctx, t.hook(), "check_run", github.GUID(), body))
	}
	return t.goesOn(ctx, id, "3 clicks from another repository")
}

// forkRace lets a fork's author push around the moment at which a maintainer approves the head that was shown.
func forkRace(after bool) func(context.Context, *target) (result, error) {
	return func(ctx context.Context, t *target) (result, error) {
		pr := must.Get(t.GitHub.OpenFork(fmt.Sprintf("A fork races %t", after), "outsider"))
		must.Do(t.GitHub.Label(pr, "ocp/"+smallProfile, "maya"))
		id := must.Get(t.clusterOfPull(ctx, pr))
		must.Get(t.becomes(ctx, id, "awaiting_approval"))
		must.Do(t.settled(ctx))
		t.holding.Lock() // only this attack's webhooks must be held
		defer t.holding.Unlock()
		approve := func() error { _, err := t.GitHub.Comment(pr, "/ocp approve", "maya"); return err }
		push := func() error { return t.GitHub.Push(pr, "outsider") }
		first, second := push, approve
		if after {
			first, second = approve, push
		}
		t.GitHub.HoldNext(1)
		err := first()
		if err == nil {
			err = second()
		}
		t.GitHub.Release()
		must.Do(err)
		return t.newHeadApproved(ctx, pr, id)
	}
}

// newHeadApproved reports whether the pull request's current head may run although nobody approved it.
func (t *target) newHeadApproved(ctx context.Context, pr int, id string) (result, error) {
	must.Do(t.settled(ctx))
	request, _ := t.GitHub.PullRequest(pr)
	var head, phase string
	var attempts, approved int
	must.Do(t.pool.QueryRow(ctx, `
		SELECT c.pr_head, c.phase, (SELECT count(*) FROM attempts WHERE cluster_id = c.id),
		       (SELECT count(*) FROM approvals WHERE cluster_id = c.id AND state = 'approved' AND head = $2)
		  FROM clusters c WHERE c.id = $1`, id, request.HeadSHA).Scan(&head, &phase, &attempts, &approved))
	must.Do(t.GitHub.Close(pr, "maya"))
	throughIf(approved > 0 || head == request.HeadSHA && attempts > 0,
		"head %.7s was approved and runs, though nobody had seen it when /ocp approve was written (%s)", request.HeadSHA, phase)
	return held("head %.7s waits for a word of its own (%s at %.7s)", request.HeadSHA, phase, head)
}

func labelOfNobody(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.Open("A label of nobody", "maya"))
	must.Do(t.settled(ctx))
	request, _ := t.GitHub.PullRequest(pr)
	request.Labels, request.UpdatedAt = []string{"ocp/" + smallProfile}, request.UpdatedAt.Add(2*time.Second)
	body := must.Get(github.Payload(github.Event{Name: "pull_request", Action: "labeled", Label: "ocp/" + smallProfile, Sender: "maya", PR: request}))
	at := fmt.Sprintf("/pulls/%d", pr)
	t.GitHub.FailNext(1, github.APIFault{Status: 503, Message: "Service Unavailable", Path: at})
	must.Get2(github.Post(ctx, t.hook(), "pull_request", github.GUID(), body))
	return t.noCluster(ctx, pr, "a label that GitHub does not have was told of")
}

func fromTheFuture(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.Open("From the future", "maya"))
	must.Do(t.settled(ctx))
	request, _ := t.GitHub.PullRequest(pr)
	request.UpdatedAt = request.UpdatedAt.Add(time.Hour)
	body := must.Get(github.Payload(github.Event{Name: "pull_request", Action: "edited", Sender: "maya", PR: request, OldTitle: "x"}))
	must.Get2(github.Post(ctx, t.hook(), "pull_request", github.GUID(), body))
	must.Do(t.settled(ctx))
	must.Do(t.GitHub.Label(pr, "ocp/"+smallProfile, "maya"))
	id, err := t.clusterOfPull(ctx, pr)
	throughIf(err != nil, "the label that maya set after it brings no cluster")
	must.Do(t.GitHub.Close(pr, "maya"))
	must.Do(t.settled(ctx))
	text := must.Get(t.ending(ctx, id))
	throughIf(text == "", "the pull request was closed after it, and its cluster goes on")
	return held("label and close after it were believed: %s", text)
}

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

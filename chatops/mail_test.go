package chatops

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/replymail"
)

func TestWhatStandsBelowAMailsHeaderIsNoCommand(t *testing.T) {
	for _, header := range []string{
		"On Mon, Mar 3, 2025 at 10:12 AM ocpctl[bot] <notifications@github.com> wrote:",
		"On Mon, Mar 3, 2025 at 10:12 AM ocpctl[bot] ***@***.***>\nwrote:",
		"On 2025-03-03 10:12 Maya <notifications@github.com> wrote:",
		"Maya <notifications@github.com> writes:",
		"Am Mo., 3. März 2025 um 10:12 Uhr schrieb Maya <\nnotifications@github.com>:",
		"Am 03.03.25 um 10:12 schrieb Maya:",
		"Le lun. 3 mars 2025 à 10:12, Maya <notifications@github.com> a écrit :",
		"El lun, 3 mar 2025 a las 10:12, Maya (<notifications@github.com>) escribió:",
		"Il giorno lun 3 mar 2025 alle ore 10:12 Maya <notifications@github.com> ha scritto:",
		"Em seg., 3 de mar. de 2025 às 10:12, Maya <notifications@github.com> escreveu:",
		"Op ma 3 mrt 2025 om 10:12 schreef Maya <notifications@github.com>:",
		"Den mån 3 mars 2025 kl 10:12 skrev Maya <notifications@github.com>:",
		"ma 3. maalisk. 2025 klo 10.12 Maya (notifications@github.com) kirjoitti:",
		"pon., 3 mar 2025 o 10:12 Maya <notifications@github.com> napisał(a):",
		"po 3. 3. 2025 v 10:12 odesílatel Maya <notifications@github.com> napsal:",
		"Maya <notifications@github.com> ezt írta (időpont: 2025. márc. 3., H, 10:12):",
		"пн, 3 мар. 2025 г. в 10:12, Maya <notifications@github.com>:\nMaya <notifications@github.com> написал(а):",
		"Maya <notifications@github.com>, 3 Mar 2025 Pzt, 10:12 tarihinde şunu yazdı:",
		"Maya <notifications@github.com> 于2025年3月3日周一 10:12写道：",
		"2025年3月3日(月) 10:12 Maya <notifications@github.com>さんは書きました:",
		"2025년 3월 3일 (월) 오전 10:12, Maya <notifications@github.com>님이 작성:",
		"-----Original Message-----", "-----Ursprüngliche Nachricht-----", "----- Message d’origine -----", "-------- Mensaje original --------", "________________________________",
		"---------- Forwarded message ---------", "-----原始邮件-----",
		"From: Maya <notifications@github.com>\nSent: Monday, March 3, 2025 10:12 AM",
		"*From:* Maya\n*Date:* Monday", "**Von:** Maya\n**Gesendet:** Montag", "De : Maya\nEnvoyé : lundi", "Da: Maya\nInviato: lunedì", "Sent: Monday\nFrom: Maya", "发件人: Maya\n发送时间: 2025年3月3日",
		"Sent from my iPhone", "Von meinem iPhone gesendet", "Envoyé de mon iPhone", "Enviado desde mi iPhone", "Inviato da iPhone", "Verstuurd vanaf mijn iPhone", "Wysłane z iPhone'a",
		"Отправлено с iPhone", "发自我的iPhone", "iPhoneから送信", "Get Outlook for iOS<https://aka.ms/o0ukef>", "Sent with Proton Mail secure email.",
		"—\nReply to this email directly, view it on GitHub<https://github.com/acme/shop/pull/41>, or unsubscribe.", "You are receiving this because you were mentioned.",
		"Message ID: ***@***.***>", "ocpctl[bot] left a comment (acme/shop#41)", "@maya approved this pull request.",
	} {
		require.Empty(t, Parse("Thanks, I will look at it.\n\n"+header+"\n\n/ocp approve\n/ocp destroy"), header)
		own := Parse("/ocp extend 4h\n\n" + header + "\n\n/ocp destroy")
		require.Len(t, own, 1, header)
		require.Equal(t, VerbExtend, own[0].Command.Verb, "what is written above the header is the author's")
	}
}

func TestWhatLooksLikeAMailAndIsNoneStaysAComment(t *testing.T) {
	for _, body := range []string{
		"As @maya wrote:\n\n/ocp status", "I wrote: it works.\n/ocp status", "From: my side this is fine.\n/ocp status", "To: do\n\n/ocp status", "Sent it yesterday.\n/ocp status",
		"> On 3 Mar 2025, Maya <notifications@github.com> wrote:\n> /ocp destroy\n\n/ocp status", "---\n\n/ocp status", "On Monday we talk.\n/ocp status", "Date: 2025-03-03\n\nText\n/ocp status",
		"```\nFrom: a\nTo: b\n```\n/ocp status", "One\n\n***\n\n/ocp status",
	} {
		parsed := Parse(body)
		require.Len(t, parsed, 1, body)
		require.NotNil(t, parsed[0].Command, body)
		require.Equal(t, VerbStatus, parsed[0].Command.Verb, body)
	}
}

func TestAMailWhoseCommandIsBelowTheQuotedTextIsToldSo(t *testing.T) {
	const header = "On Mon, Mar 3, 2025 at 10:12 AM Maya <notifications@github.com> wrote:\n"
	for _, body := range []string{
		"Sure.\n\n" + header + "> Shall it go?\n\n/ocp destroy\n\n/ocp status", // the answer stands below what it answers
		header + "\n/ocp destroy", // nothing else is said
	} {
		parsed := Parse(body)
		require.Len(t, parsed, 1, body)
		require.Nil(t, parsed[0].Command)
		require.Contains(t, parsed[0].Reply, "`/ocp destroy` was ignored, because it is below the header of a mail")
		require.Contains(t, parsed[0].Reply, "write commands at the top")
	}
	require.Empty(t, Parse("Sure.\n\n"+header+"> Shall it go?\n> /ocp destroy\n"))
}

func TestAnApprovalIsTheFirstLine(t *testing.T) {
	for body, approves := range map[string]bool{
		"/ocp approve": true, "\n\n  /ocp approve\n\nThanks!": true, "/ocp approve 6dcb09b\n/ocp status": true,
		"Looks good.\n/ocp approve": false, "> text\n\n/ocp approve": false, "/ocp status\n/ocp approve": false, "<!-- x -->\n/ocp approve": false,
	} {
		found := false
		for _, line := range Parse(body) {
			if line.Command != nil && line.Command.Verb == VerbApprove {
				found = true
			} else if line.Command == nil {
				require.Contains(t, line.Reply, "counts only in the first line of a comment")
			}
		}
		require.Equal(t, approves, found, body)
	}
}

// Each kind of comment and answer has a golden file; the words of those that have none stand in literals.
func TestACopyOfOurOwnTextsHoldsNoCommand(t *testing.T) {
	texts := map[string]string{}
	files, err := filepath.Glob("testdata/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		if strings.HasPrefix(path, "testdata/check-") || strings.HasPrefix(path, "testdata/deployment-") {
			continue // nobody gets them by mail
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[path] = string(text)
	}
	literal := regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	for _, folder := range []string{"*.go", "messages/*.go"} {
		sources, err := filepath.Glob(folder)
		require.NoError(t, err)
		for _, path := range sources {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, quoted := range literal.FindAllString(string(source), -1) {
				if text, err := strconv.Unquote(quoted); err == nil && strings.Contains(text, "`"+Prefix) && !strings.HasSuffix(path, "_test.go") {
					texts[path+": "+quoted] = text
				}
			}
		}
	}
	for _, e := range inComments.rows {
		line := Prefix + " " + e.form.Example
		texts[line] = Answer(line, Code(line)+" was done. "+Code(line)+"\n\n| a | b |\n|---|---|\n| "+Code(line)+" | x |\n")
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		holdsNoCommand(t, name, text)
	}
}

func holdsNoCommand(t require.TestingT, name, text string) {
	body := Quotable(text)
	for _, copied := range replymail.Copies(body) {
		for _, line := range append(Parse("Thanks.\n\n"+copied), Parse(copied)...) {
			require.Nil(t, line.Command, "%s: %q in %q", name, line.Line, copied)
		}
	}
	require.Equal(t, body, Quotable(body), "%s: twice is once", name)
	for _, p := range replymail.Programs {
		require.Empty(t, Parse(p.Reply("Thanks.", body, "ocpctl[bot]")), "%s, %s", name, p.Name)
	}
}

func TestNoTextOfOthersIsACommandInACopy(t *testing.T) {
	pieces := []string{
		"/ocp approve", "`/ocp approve` ", "``/ocp destroy`` ", "- ", "> ", "1. ", "| ", " | ", "\n", "\n\n", "\n```\n", "word", " ", "**", "/ocp", ": ", "<br>", "<details>\n", "(", "/OCP approve", "→ ",
		"[`/ocp approve`](https://example.com)", "### ", "text `a /ocp destroy` text", "&nbsp;",
	}
	rapid.Check(t, func(t *rapid.T) {
		body := Quotable(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(t, "pieces"), ""))
		for _, copied := range replymail.Copies(body) {
			for _, line := range Parse("Thanks.\n\n" + copied) {
				require.Nil(t, line.Command, "%q in %q", line.Line, copied)
			}
		}
	})
}

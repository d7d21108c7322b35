package installer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/secret"
)

const pullSecret = `{"auths":{"quay.io":{"auth":"cm9ib3Q6Y2FuYXJ5LXBhc3N3b3Jk","email":"a@example.com"},"registry.example.com":{"auth":"c29tZTpvdGhlci1jYW5hcnk="}}}`

// canaries must appear in no output, however they got into the input.
var canaries = []string{
	pullSecret, "cm9ib3Q6Y2FuYXJ5LXBhc3N3b3Jk", "canary-password", "c29tZTpvdGhlci1jYW5hcnk=", "other-canary",
	"FRzcs-canary-kubeadmin", "wJalrXUtnFEMI/canary+key", "line-two-canary",
}

func knowing() *Redactor {
	r := NewRedactor()
	r.AddPullSecret(secret.New(pullSecret))
	r.Add(secret.New("FRzcs-canary-kubeadmin"), secret.New("wJalrXUtnFEMI/canary+key"), secret.New("line-one-canary\nline-two-canary\n"))
	return r
}

func TestALineKeepsItsWordsAndLosesItsSecrets(t *testing.T) {
	r := knowing()
	for in, want := range map[string]string{
		`level=info msg=Creating infrastructure resources...`:                                       `level=info msg=Creating infrastructure resources...`,
		`level=info msg=Login to the console with user: "kubeadmin", and password: "abcde-fghij"`:   `level=info msg=Login to the console with user: "kubeadmin", and password:[redacted]`,
		`msg="the \"password\": \"x y z\""`:                                                         `msg="the \"password\":[redacted]`,
		`got FRzcs-canary-kubeadmin here`:                                                           `got [redacted] here`,
		`key AKIAIOSFODNN7EXAMPLE used`:                                                             `key [redacted] used`,
		`GET https://b.s3/x?X-Amz-Signature=0abc&X-Amz-Date=1`:                                      `GET https://b.s3/x?X-Amz-Signature=[redacted]&X-Amz-Date=1`,
		`token eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2ln ok`:                                        `token [redacted] ok`,
		`"auths":{"x":{"auth":"unknown"}}`:                                                          `"auths":[redacted]`,
		`aws_secret_access_key = unknown1 end`:                                                      `aws_secret_access_key = [redacted] end`,
		`X-Amz-Security-Token: unknown1 end`:                                                        `X-Amz-Security-Token: [redacted] end`,
		`proxy http://me:unknown@proxy:3128/`:                                                       `proxy http://me:[redacted]proxy:3128/`,
		`client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ==`:                             `client-key-data: [redacted]`,
		`pem -----BEGIN RSA PRIVATE KEY-----MII-----END RSA PRIVATE KEY--`:                          `pem [redacted]`,
		`ec2:CreateVpc is refused. Encoded authorization failure message: 4Q-x_y7 status code: 403`: `ec2:CreateVpc is refused. Encoded authorization failure message: [redacted] status code: 403`,
		`Authorization: Bearer unknown`:                                                             `Authorization:[redacted]`,
		`line-two-canary`:                                                                           `[redacted]`,
	} {
		require.Equal(t, want, r.Text(in))
	}
}

func TestAPrivateKeyOverManyLinesIsWithheldWhole(t *testing.T) {
	in := "before\nkey: -----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY----- after\nthen"
	require.Equal(t, "before\nkey: [redacted]\n[redacted] after\nthen", NewRedactor().Text(in))
}

func TestABlockThatNeverEndsDoesNotSwallowTheLog(t *testing.T) {
	in := "-----BEGIN CERTIFICATE-----\n" + strings.Repeat("MIIE\n", longestBlock) + "the end"
	require.Equal(t, "[redacted]\nthe end", NewRedactor().Text(in))
}

func TestAnEndlessLineNeedsNoMemory(t *testing.T) {
	var out []string
	lines := NewRedactor().Lines(func(line string) { out = append(out, line) })
	chunk := bytes.Repeat([]byte("x"), 1<<10)
	for range 64 {
		_, err := lines.Write(chunk)
		require.NoError(t, err)
	}
	held := cap(lines.partial)
	require.LessOrEqual(t, held, 2*longestLine)
	require.Zero(t, testing.AllocsPerRun(1000, func() { lines.Write(chunk) }), "nothing more is kept of it")
	require.Equal(t, held, cap(lines.partial))
	_, err := lines.Write([]byte("\nthe next"))
	require.NoError(t, err)
	lines.Close()
	require.Len(t, out, 2)
	require.Regexp(t, `^\[a line of \d+ bytes withheld\]$`, out[0])
	require.Equal(t, "the next", out[1])
}

func TestAnOverlongLineIsWithheld(t *testing.T) {
	got := NewRedactor().Text("a\n" + strings.Repeat("x", longestLine) + "yy\nb")
	require.Equal(t, "a\n[a line of 65538 bytes withheld]\nb", got)
}

func TestASecretIsFoundHoweverItIsSpelt(t *testing.T) {
	r := knowing()
	for _, canary := range canaries {
		for _, spelt := range []string{
			canary, strconv.Quote(canary), strconv.Quote(strconv.Quote(canary)), base64.StdEncoding.EncodeToString([]byte(canary)),
			url.QueryEscape(canary), "'" + strings.ReplaceAll(canary, "'", `'\''`) + "'",
		} {
			got := r.Text("before " + spelt + " after")
			require.NotContains(t, got, strings.Trim(spelt, `"`))
			require.NotContains(t, got, canary)
		}
	}
}

// spellers are ways in which somebody may print a value.
var spellers = map[string]func(string) string{
	"plain":   func(v string) string { return v },
	"Go":      strconv.Quote,
	"Go, %+q": func(v string) string { return fmt.Sprintf("%+q", v) },
	"JSON": func(v string) string {
		raw, _ := json.Marshal(v)
		return string(raw)
	},
	"JSON in a log line": func(v string) string {
		raw, _ := json.Marshal(v)
		return strconv.Quote(string(raw))
	},
	"YAML":         func(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" },
	"shell quotes": func(v string) string { return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'" },
	"query":        url.QueryEscape,
	"path":         url.PathEscape,
	"base64":       func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	"base64 URL":   func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) },
	"basic auth":   func(v string) string { return base64.StdEncoding.EncodeToString([]byte("robot:" + v)) },
	"in a Secret": func(v string) string {
		return base64.StdEncoding.EncodeToString([]byte("[default]\nkey = " + v + "\n"))
	},
}

// Words of a log that look like no secret.
var plain = rapid.StringMatching(`[a-z .,:/]{0,80}`)

func TestASecretIsNowhereInTheOutputAndNothingElseIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Z][!-~]{6,40}[A-Z0-9]`).Draw(t, "secret")
		speller := rapid.SampledFrom(slices.Sorted(maps.Keys(spellers))).Draw(t, "spelling")
		spelt := spellers[speller](value)
		before, after, above, below := plain.Draw(t, "before"), plain.Draw(t, "after"), plain.Draw(t, "above"), plain.Draw(t, "below")
		text := above + "\n" + before + "<" + spelt + ">" + after + "\n" + below

		redactor := NewRedactor()
		redactor.Add(secret.New(value))
		var lines []string
		out := redactor.Lines(func(line string) { lines = append(lines, line) })
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			_, err := out.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		out.Close()

		got := strings.Join(lines, "\n")
		require.NotContains(t, got, value)
		require.NotContains(t, got, strings.Trim(spelt, `"'`))
		require.Contains(t, got, mark)
		require.True(t, strings.HasPrefix(got, above+"\n"+before+"<"), got)
		if !patternsApply(text) { // a pattern may hide the rest of a line that a value happens to look like
			require.True(t, strings.HasSuffix(got, ">"+after+strings.TrimSuffix("\n"+below, "\n")), got)
		}
	})
}

// patternsApply reports whether a text holds what looks like a secret whatever its value.
func patternsApply(text string) bool {
	return NewRedactor().Text(text) != strings.TrimSuffix(text, "\n")
}

func TestNoSecretGetsThroughHoweverTheStreamIsCut(t *testing.T) {
	words := append([]string{"level=info msg=hello", " ", "\n", "\n", `"auths":`, "password: ", "\t", "\r\n"}, canaries...)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 40).Draw(t, "words"), "")
		var out strings.Builder
		lines := knowing().Lines(func(line string) { out.WriteString(line + "\n") })
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			_, err := lines.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		lines.Close()
		for _, canary := range canaries {
			require.NotContains(t, out.String(), canary)
		}
		require.Equal(t, strings.Count(text, "\n")+min(1, len(text)-strings.LastIndex(text, "\n")-1), strings.Count(out.String(), "\n"), "every line is accounted for")
	})
}

func TestControlCharactersDoNotHideASecretNorReachTheLog(t *testing.T) {
	redactor := NewRedactor()
	redactor.Add(secret.New("hunter2hunter2"))
	require.Equal(t, "level=info\tpaint [31mit red", redactor.Text("level=info\tpaint \x1b[31mit\x00 red"))
	require.NotContains(t, redactor.Text("the word is hunter2\x00hunter2"), "hunter2")
}

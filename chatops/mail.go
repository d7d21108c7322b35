package chatops

import (
	"regexp"
	"strings"
)

// A comment can be a reply by mail. GitHub posts it with what the mail program put below it: a header, and the text that was answered,
// often without quote marks. None of that is what the author says.
//
// What programs write: github.com/github/email_reply_parser, github.com/mailgun/talon, Mozilla's and Outlook's translations.

// mail recognizes where the quoted part of a reply by mail begins.
type mail struct {
	below  bool // a header was read
	field  bool // the line before it was a field of a header, as Outlook writes them
	quotes bool // there was a quote mark below the header: the program marks what it quotes
}

// read looks at the next line of a comment, as it is, and reports whether it stands below the header or is part of it.
func (m *mail) read(line string) bool {
	line = strings.TrimFunc(line, blank)
	if strings.HasPrefix(line, ">") {
		m.quotes = m.quotes || m.below
		return m.below
	}
	if m.below || line == "" || line[0] == '/' || len(line) > maxHeader {
		return m.below
	}
	colon := strings.ContainsAny(line, ":：")
	field := colon && mailField.MatchString(line)
	m.below = field && m.field || (colon || strings.Contains(line, "<")) && isAttribution(line) || strings.ContainsRune("-_=*", rune(line[0])) && separator.MatchString(line) ||
		len(line) < maxSignature && sentFrom.MatchString(line) || footer.MatchString(line)
	m.field = field
	return m.below
}

// How long a line of a mail's header, and one of a phone's signature, may be, in bytes.
const (
	maxHeader    = 400
	maxSignature = 120
)

// isAttribution reports whether a line is the last one of "On Monday 3 March 2025 at 10:12, Maya <maya@example.com> wrote:".
func isAttribution(line string) bool {
	return wrote.MatchString(line) && person.MatchString(line) || wroteAlone.MatchString(line) || wroteOn.MatchString(line)
}

var (
	// wrote matches the end of an attribution.
	wrote = regexp.MustCompile(`(?i)(?:` + written + `).{0,120}[:：][*_ ]*$`)
	// person matches what an attribution has besides: an address, or a date.
	person = regexp.MustCompile(`[^\s@]@[^\s@]+\.|[0-9]{1,4}[-./:年]|[0-9]{4}|<mailto:`)
	// wroteAlone matches the end of an attribution whose line was broken before it.
	wroteAlone = regexp.MustCompile(`(?i)^(?:` + written + `)\s*[:：][*_ ]*$`)
	// wroteOn matches the beginning of an attribution whose line was broken after the verb.
	wroteOn = regexp.MustCompile(`(?i)^[*_]*(?:am|op|den|dne|on|le|el|il|em)\b.{0,20}[0-9].{0,80}\b(?:schrieb|schreef|skrev|napsal|wrote|a écrit|escribió|ha scritto|escreveu)\b.*<[^>]*$`)
)

// written lists how mail programs say "wrote" in their languages.
const written = `wrote|writes|schrieb|a écrit|a ecrit|escribió|escribio|ha scritto|escreveu|schreef|skrev|skreiv|kirjoitti|napisał|napisała|napisał\(a\)|pisze|` +
	`napsal|napsal\(a\)|napísal|je napisao|je napisala|je napisal|írta|ezt írta|a scris|έγραψε|написал|написал\(а\)|пишет|написав|пише|написа|` +
	`yazdı|şunu yazdı|va escriure|escribiu|idatzi du|skrifaði|kirjutas|rakstīja|rašė|menulis|đã viết|เขียนว่า|写道|寫道|さんは書きました|のメール|님이 작성|작성|כתב|כתבה|كتب|نوشت`

// separator matches the line between a reply and what it answers.
var separator = regexp.MustCompile(`(?i)^(?:_{20,}|[-_=* ]{2,}(?:begin )?(?:original|forwarded|reply|ursprüngliche|weitergeleitete|originalnachricht|message d[’']origine|message original|` +
	`message transféré|mensaje original|mensaje reenviado|messaggio originale|messaggio inoltrato|mensagem original|mensagem encaminhada|oorspronkelijk|doorgestuurd|` +
	`ursprungligt|originalmeddelande|vidarebefordrat|oprindelig|opprinnelig|alkuperäinen|oryginalna|wiadomość oryginalna|původní|pôvodná|eredeti|mesaj original|mesajul original|αρχικό|` +
	`исходное|пересылаемое|пересланное|оригинално|оригінальне|orijinal|özgün|missatge original|原始邮件|原始郵件|邮件原件|转发邮件|元のメッセージ|원본 메시지|thư gốc|pesan asli|הודעה מקורית|الرسالة الأصلية)[^-_=*]{0,60}[-_=*]{2,}[: ]*)$`)

// mailField matches a field of a header as Outlook and others write it; two of them below each other are a header.
var mailField = regexp.MustCompile(`(?i)^[*_]*(?:from|sent|date|to|cc|subject|reply-to|von|gesendet|datum|an|betreff|de|envoyé|date|à|objet|enviado(?: el)?|fecha|para|asunto|` +
	`da|inviato|data|a|oggetto|enviada(?: em)?|assunto|van|verzonden|aan|onderwerp|från|skickat|till|ämne|fra|sendt|til|emne|lähettäjä|lähetetty|vastaanottaja|aihe|` +
	`od|wysłano|do|temat|odesláno|komu|předmět|odoslané|predmet|feladó|küldve|címzett|tárgy|dată|trimis|către|subiect|από|προς|θέμα|ημερομηνία|στάλθηκε|` +
	`от|отправлено|кому|тема|дата|від|надіслано|kimden|gönderildi|kime|konu|发件人|寄件者|发送时间|寄件日期|收件人|收件者|主题|主旨|日期|差出人|送信日時|宛先|件名|보낸 사람|보낸 날짜|받는 사람|제목)[*_]*\s?[:：][*_]*(?:\s|$)`)

// sentFrom matches the line that a phone's program writes below a text; what was answered follows it.
var sentFrom = regexp.MustCompile(`(?i)^[*_<\[]*(?:(?:sent|reply sent) (?:from|with|via|using)\b.{1,60}|get outlook for .{1,40}|` +
	`von meinem .{1,30} gesendet.?|gesendet (?:von|mit|aus) .{1,40}|envoyé (?:de|depuis|à partir) .{1,40}|enviado (?:desde|do|a partir|de) .{1,40}|inviato (?:da|con) .{1,40}|` +
	`verstuurd (?:vanaf|met) .{1,40}|verzonden (?:vanaf|met) .{1,40}|skickat från .{1,40}|sendt fra .{1,40}|lähetetty .{1,40}|wysłane? (?:z|przy) .{1,40}|odesláno z .{1,40}|` +
	`отправлено (?:с|из) .{1,40}|надіслано з .{1,40}|.{1,20}['’]?(?:dan|den) gönderildi|发自我的 ?.{1,20}|從我的 ?.{1,20}傳送|.{0,20}から送信|나의 .{1,20}에서 보냄)[*_>\]]*$`)

// footer matches what GitHub writes around a comment that it sends by mail.
var footer = regexp.MustCompile(`(?i)^(?:[-—–]{1,2} ?)?(?:reply to this email directly|you are receiving this (?:because|email)|message id: \S*@|@?\S+ left a comment \(\S+/\S+#[0-9]+\)|` +
	`@?\S+ (?:commented|approved|requested changes) (?:on )?this pull request)`)

package github

import (
	"bytes"
	"html"
	"html/template"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// markdown converts a comment to safe HTML: goldmark drops dangerous links, and only a few bare tags of raw HTML pass; the rest is
// shown as text, HTML comments not at all.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(fewTags{}, 100))),
)

func rendered(body string) template.HTML {
	var out bytes.Buffer
	if err := markdown.Convert([]byte(body), &out); err != nil {
		return template.HTML(html.EscapeString(body)) // escaped
	}
	return template.HTML(out.String())
}

// fewTags renders raw HTML in place of goldmark's own renderer.
type fewTags struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (fewTags) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, inlineHTML)
	r.Register(ast.KindHTMLBlock, blockHTML)
}

func inlineHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		raw := n.(*ast.RawHTML)
		_, _ = w.Write(onlyFewTags(raw.Segments.Value(source)))
	}
	return ast.WalkSkipChildren, nil
}

func blockHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block := n.(*ast.HTMLBlock)
	if entering {
		raw := block.Lines().Value(source)
		if block.HasClosure() {
			raw = append(raw, block.ClosureLine.Value(source)...)
		}
		_, _ = w.Write(onlyFewTags(raw))
	}
	return ast.WalkContinue, nil
}

var (
	hidden  = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	bareTag = regexp.MustCompile(`^</?(details|summary|sub|sup|kbd|b|i|br|p|code|strong|em)( open)? ?/?>`)
)

// onlyFewTags escapes everything but bare tags without attributes.
func onlyFewTags(raw []byte) []byte {
	raw = hidden.ReplaceAll(raw, nil)
	var out bytes.Buffer
	for len(raw) > 0 {
		if tag := bareTag.Find(raw); tag != nil {
			out.Write(tag)
			raw = raw[len(tag):]
			continue
		}
		next := bytes.IndexByte(raw[1:], '<') + 1
		if next == 0 {
			next = len(raw)
		}
		out.WriteString(html.EscapeString(string(raw[:next])))
		raw = raw[next:]
	}
	return out.Bytes()
}

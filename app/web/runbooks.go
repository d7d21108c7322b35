package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ocpctl/ocpctl/docs"
	"github.com/ocpctl/ocpctl/policy"
)

// contents is the page that lists the others.
const contents = "README"

// runbook is one page, rendered.
type runbook struct {
	Title string
	Index bool
	Body  template.HTML // from goldmark, without raw HTML and dangerous URLs
}

// renderRunbooks renders every page once. A page that cannot be rendered is a build error, so it panics.
func renderRunbooks() map[string]runbook {
	out, md := map[string]runbook{}, newMarkdown()
	pages := docs.Runbooks()
	names, err := fs.Glob(pages, "*.md")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		source, err := fs.ReadFile(pages, file)
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(file, ".md")
		if out[name], err = renderRunbook(md, source); err != nil {
			panic(fmt.Errorf("render runbook %s: %w", file, err))
		}
	}
	index := out[contents]
	index.Index = true
	out[contents] = index
	return out
}

// newMarkdown omits raw HTML and dangerous URLs, and aligns cells by attribute, because our pages allow no inline style.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(anchors{}, 100))),
	)
}

func renderRunbook(markdown goldmark.Markdown, source []byte) (runbook, error) {
	doc := markdown.Parser().Parse(text.NewReader(source))
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, doc); err != nil {
		return runbook{}, err
	}
	page := runbook{Body: template.HTML(body.String())}
	if heading, ok := doc.FirstChild().(*ast.Heading); ok {
		page.Title = nodeText(heading, source)
	}
	return page, nil
}

// anchors makes words linkable: code in a table's first column gets an anchor with its lowercase name. Links between the pages'
// files become links between the pages.
type anchors struct{}

var (
	anchor   = regexp.MustCompile(`^[A-Za-z0-9]+$`)
	pageLink = regexp.MustCompile(`^([a-zA-Z-]+)\.md(#.*)?$`)
)

// Transform implements parser.ASTTransformer.
func (anchors) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	seen := map[string]bool{}                                                   // if two tables have the same word, the first gets the anchor
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails only if the function does
		switch n := n.(type) {
		case *ast.Link:
			if m := pageLink.FindSubmatch(n.Destination); entering && m != nil {
				n.Destination = []byte("/runbooks/" + strings.TrimPrefix(string(m[1]), contents) + string(m[2]))
			}
		case *ast.CodeSpan:
			cell, in := n.Parent().(*east.TableCell)
			name := strings.ToLower(nodeText(n, reader.Source()))
			if entering && in && cell.PreviousSibling() == nil && anchor.MatchString(name) && !seen[name] {
				seen[name] = true
				n.SetAttributeString("id", []byte(name))
			}
		}
		return ast.WalkContinue, nil
	})
}

// nodeText returns the text below a node.
func nodeText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
			continue
		}
		b.WriteString(nodeText(c, source))
	}
	return b.String()
}

// showRunbook shows a page of the runbooks to anybody: they are public.
func (p *pages) showRunbook(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("page"), ".md") // alerts name the file
	if name == "" {
		name = contents
	}
	page, known := p.runbooks[name]
	if !known {
		p.showProblem(w, r, policy.Principal{}, http.StatusNotFound, "This runbook does not exist. All runbooks are listed at /runbooks/.")
		return
	}
	p.renderPage(w, r, policy.Principal{}, http.StatusOK, "runbook", page)
}

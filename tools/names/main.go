// Command names measures how the product's unexported functions are named: how many have a name of one word, and how many are named by a
// participle, which does not say what the function does. With -max it fails when there are more. Test code, generated code, the stand-ins
// (devstack) and the tools are not counted.
//
//	go run ./names [-list] [-max 20] [folder of the repository]
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	list := flag.Bool("list", false, "print each counted name with its place")
	most := flag.Float64("max", 100, "fail when more percent of the names have one word, or when one is a participle and this is below 100")
	flag.Parse()
	root := ".."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	functions, err := findFunctions(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var short, participles int
	for _, f := range functions {
		oneWord, participle := isOneWord(f.name), isParticiple(f.name)
		short += toInt(oneWord)
		participles += toInt(participle)
		if *list && (oneWord || participle) {
			fmt.Println(f.place, f.name)
		}
	}
	percent := 100 * float64(short) / float64(max(len(functions), 1))
	fmt.Printf("%d unexported functions: %d have a name of one word (%.1f %%), %d are named by a participle\n", len(functions), short, percent, participles)
	if *most < 100 && (percent > *most || participles > 0) {
		fmt.Printf("accepted: at most %.0f %% of one word, and no participle (-list prints them)\n", *most)
		os.Exit(1)
	}
}

type function struct{ name, place string }

// findFunctions lists the unexported functions and methods of the product.
func findFunctions(root string) ([]function, error) {
	var out []function
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "tools", "devstack", "node_modules"}, d.Name())) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".gen.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if ok && !f.Name.IsExported() && f.Name.Name != "main" && f.Name.Name != "init" {
				relative, _ := filepath.Rel(root, path)
				out = append(out, function{name: f.Name.Name, place: fmt.Sprintf("%s:%d", filepath.ToSlash(relative), files.Position(f.Pos()).Line)})
			}
		}
		return nil
	})
	return out, err
}

var words = regexp.MustCompile(`^[a-z0-9]+|[A-Z]+(?:[a-z0-9]+|$|s$)|[A-Z]`)

func isOneWord(name string) bool {
	return len(words.FindAllString(name, -1)) == 1
}

// irregular are participles that do not end in "ed"; those that are verbs as well (set, read, put) are not counted.
var irregular = []string{
	"said", "told", "spelt", "kept", "held", "given", "made", "seen", "known", "found", "shown", "written", "taken", "gone", "left", "lost", "meant",
	"sent", "done", "chosen", "drawn", "grown", "born", "bound", "brought", "built", "bought", "caught", "dealt", "eaten", "fallen", "felt", "forgotten",
	"got", "heard", "hidden", "laid", "led", "lent", "met", "paid", "sold", "spent", "spoken", "stood", "stolen", "struck", "sworn", "thought", "thrown",
	"understood", "woken", "won", "worn", "wound", "ran", "came", "went", "wrote", "took", "gave", "saw", "knew", "began", "begun", "became", "broken",
	"borne", "frozen", "proven", "sunk", "torn", "slept", "sought", "taught", "wrought", "withdrawn",
}

// notParticiples end in "ed" and are none.
var notParticiples = []string{"need", "feed", "embed", "seed", "speed", "proceed", "exceed", "succeed", "shed", "bleed", "red", "bed", "breed", "weed", "indeed", "unified"}

// isParticiple: the first word of the name is a past participle or a past tense.
func isParticiple(name string) bool {
	first := words.FindString(name)
	return slices.Contains(irregular, first) || strings.HasSuffix(first, "ed") && !slices.Contains(notParticiples, first)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

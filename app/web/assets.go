package web

import (
	"embed"
	"mime"
	"net/http"
	"path"

	"github.com/ocpctl/ocpctl/internal/httpbody"
	"github.com/ocpctl/ocpctl/policy"
)

//go:embed assets
var assets embed.FS

// assetFiles are the files that pages load, by name.
type assetFiles map[string]*httpbody.File

func readAssets() assetFiles {
	files := assetFiles{}
	list, err := assets.ReadDir("assets")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	for _, f := range list {
		content, err := assets.ReadFile(path.Join("assets", f.Name()))
		if err != nil {
			panic(err) // as above
		}
		files[f.Name()] = httpbody.NewFile(mime.TypeByExtension(path.Ext(f.Name())), content)
	}
	return files
}

// addressOf returns the address of a file, which changes with its content.
func (files assetFiles) addressOf(name string) string {
	return "/assets/" + files[name].Hash + "/" + name
}

// serveAsset serves a file. Under the address that names its content a browser keeps it for ever. Any other address is asked again each
// time: while servers are replaced, one gets requests for what another one's pages name.
func (p *pages) serveAsset(w http.ResponseWriter, r *http.Request) {
	file, found := p.assets[r.PathValue("file")]
	if !found {
		p.showProblem(w, r, policy.Principal{}, http.StatusNotFound, "This page does not exist.")
		return
	}
	keep := "no-cache"
	if r.PathValue("hash") == file.Hash {
		keep = "public, max-age=31536000, immutable"
	}
	w.Header().Set("Cache-Control", keep)
	file.Serve(w, r)
}

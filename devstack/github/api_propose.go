package github

import (
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
)

// reference is a branch as the Git API shows it.
func (sc scene) reference(ref, sha string) object {
	api := sc.repoAPI() + "/git/"
	return object{"ref": "refs/" + ref, "node_id": "REF_" + sha, "url": api + "refs/" + ref, "object": object{"type": "commit", "sha": sha, "url": api + "commits/" + sha}}
}

// getRef returns one branch by its whole name.
// https://docs.github.com/rest/git/refs#get-a-reference
func (s *Server) getRef(w http.ResponseWriter, r *http.Request, c caller) {
	ref, sha := r.PathValue("ref"), ""
	c.at.look(func(_ *world, repo *repository) {
		if name, isBranch := strings.CutPrefix(ref, "heads/"); isBranch && repo.Commits[name] == nil {
			sha = repo.resolve(name)
		}
	})
	endMissing(sha == "")
	answer(w, http.StatusOK, s.sceneOf(c.at.repo).reference(ref, sha))
}

// postRef makes a branch at a commit.
// https://docs.github.com/rest/git/refs#create-a-reference
func (s *Server) postRef(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct{ Ref, SHA string }
	decodeBody(r, &body)
	name, isBranch := strings.CutPrefix(body.Ref, "refs/heads/")
	endIf(!isBranch || name == "", http.StatusUnprocessableEntity, "Reference name must start with 'refs/' and have at least two slashes.")
	err := c.at.do(func(_ *world, repo *repository) ([]Event, error) {
		endIf(repo.Commits[body.SHA] == nil, http.StatusUnprocessableEntity, "Object does not exist")
		endIf(repo.resolve(name) != "", http.StatusUnprocessableEntity, "Reference already exists")
		repo.Branches[name] = body.SHA
		return nil, nil
	})
	endOnError(err, "Reference", "ref")
	answer(w, http.StatusCreated, s.sceneOf(c.at.repo).reference("heads/"+name, body.SHA))
}

// putContents commits a file to a branch. An existing file is changed only with git's id of what it was.
// https://docs.github.com/rest/repos/contents#create-or-update-file-contents
func (s *Server) putContents(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct{ Message, Content, SHA, Branch string }
	decodeBody(r, &body)
	text, err := base64.StdEncoding.DecodeString(body.Content)
	endIf(err != nil || body.Message == "", http.StatusUnprocessableEntity, "content is not valid Base64")
	path, branch, status, commit := r.PathValue("path"), body.Branch, http.StatusCreated, ""
	if branch == "" {
		branch = Branch
	}
	err = c.at.do(func(_ *world, repo *repository) ([]Event, error) {
		files := repo.Commits[repo.Branches[branch]]
		endIf(files == nil, http.StatusNotFound, "Branch "+branch+" not found")
		if was, there := files[path]; there {
			endIf(blobID(was) != body.SHA, http.StatusConflict, path+" does not match "+body.SHA)
			status = http.StatusOK
		}
		commit = repo.commit(branch, withFile(maps.Clone(files), path, string(text)))
		return nil, nil
	})
	endOnError(err, "Contents", "path")
	sc := s.sceneOf(c.at.repo)
	person := object{"name": c.login, "email": c.login + "@users.noreply.github.com", "date": stamp(s.now())}
	answer(w, status, object{"content": sc.content(path, branch, string(text)), "commit": object{
		"sha": commit, "node_id": "C_" + commit, "message": body.Message, "author": person, "committer": person, "parents": []object{},
		"url": sc.repoAPI() + "/git/commits/" + commit, "html_url": sc.web() + sc.repo.Name + "/commit/" + commit,
		"tree":         object{"sha": commit, "url": sc.repoAPI() + "/git/trees/" + commit},
		"verification": object{"verified": true, "reason": "valid", "signature": "x", "payload": "x"}, // as the App is its author
	}})
}

// postPull opens a pull request from a branch of the repository.
// https://docs.github.com/rest/pulls/pulls#create-a-pull-request
func (s *Server) postPull(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Title, Head, Base, Body string
		Draft                   bool
	}
	decodeBody(r, &body)
	number, err := c.at.openBranch(body.Title, body.Body, body.Head, body.Base, c.login, body.Draft)
	endIf(err != nil, http.StatusUnprocessableEntity, "Validation Failed")
	pr, _ := c.at.PullRequest(number)
	answer(w, http.StatusCreated, s.sceneOf(c.at.repo).pull(pr, 0))
}

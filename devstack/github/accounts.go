package github

import (
	"cmp"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// account is an account that is not as its login alone says: it was renamed, or it took a login that another account had.
type account struct {
	ID   int64  `json:"id"`             // 0: nobody has the login any more
	Kind string `json:"kind,omitempty"` // User or Bot; empty: as the login says
}

var knownIDs = map[string]int64{"maya": 2001, "will": 2002, "rita": 2003, "rob": 2004, "ada": 2005, ForkOwner: 2045, Bot: 2100, Org: orgID}

// accountOf returns the number and the type of the account that has a login.
func (sc scene) accountOf(login string) account {
	kind := "User"
	switch {
	case login == Org:
		kind = "Organization"
	case strings.HasSuffix(login, "[bot]"):
		kind = "Bot"
	}
	if a, moved := sc.accounts[login]; moved {
		return account{a.ID, cmp.Or(a.Kind, kind)}
	}
	id := knownIDs[login]
	if id == 0 { // an unknown account gets a constant number
		for _, r := range login {
			id = id*31%900_000 + int64(r)
		}
		id += 10_000
	}
	return account{id, kind}
}

// RenameAccount gives an account another login. GitHub keeps its number, shows the new login everywhere, redirects nothing but its
// repositories, sends no webhook, and lets anybody take the old login.
// https://docs.github.com/account-and-profile/setting-up-and-managing-your-personal-account-on-github/managing-user-account-settings/changing-your-username
func (s *Server) RenameAccount(login, to string) error {
	return s.change(func(w *world) ([]Event, error) {
		must.EndIf(login == to || to == "" || !w.known(login) || w.known(to), errInvalid)
		is := w.scene(s, nil).accountOf(login)
		w.setAccount(login, account{})
		w.setAccount(to, is)
		w.rewrite(login, to)
		return nil, nil
	})
}

// AddAccount adds an account with a number that no other has. Its login may be one that another account had, and says nothing of whether
// it is a bot.
func (s *Server) AddAccount(login string, isBot bool) error {
	return s.change(func(w *world) ([]Event, error) {
		must.EndIf(login == "" || w.known(login), errInvalid)
		kind := "User"
		if isBot {
			kind = "Bot"
		}
		w.setAccount(login, account{w.id(), kind})
		return nil, nil
	})
}

func (w *world) setAccount(login string, a account) {
	if w.Accounts == nil {
		w.Accounts = map[string]account{}
	}
	w.Accounts[login] = a
}

// known reports whether an account has a login.
func (w *world) known(login string) bool {
	if a, moved := w.Accounts[login]; moved {
		return a.ID != 0
	}
	if _, ok := knownIDs[login]; ok {
		return true
	}
	for _, r := range w.Repos {
		if _, ok := r.Permissions[login]; ok {
			return true
		}
	}
	return false
}

// rewrite replaces a login everywhere but in deliveries that were sent.
func (w *world) rewrite(login, to string) {
	one := func(name *string) {
		if *name == login {
			*name = to
		}
	}
	all := func(names []string) {
		for i := range names {
			one(&names[i])
		}
	}
	all(w.Members)
	for _, team := range w.Teams {
		all(team)
	}
	for _, r := range w.Repos {
		if owner, name := (RepoRef{Name: r.Name}).split(); owner == login {
			r.Old, r.Name = append(r.Old, r.Name), to+"/"+name
		}
		if role, ok := r.Permissions[login]; ok {
			delete(r.Permissions, login)
			r.Permissions[to] = role
		}
		all(r.Contributors)
		for _, pr := range r.Pulls {
			one(&pr.Author)
			one(&pr.MergedBy)
			one(&pr.HeadOwner)
		}
		for _, c := range r.Comments {
			one(&c.Author)
			for _, who := range c.Reactions {
				all(who)
			}
		}
		for _, run := range r.Runs {
			one(&run.Actor)
			one(&run.Triggering)
		}
	}
}

// accountRoutes are the calls about accounts.
func (s *Server) accountRoutes(known func(pattern, needs string, fn as)) {
	known("GET /users/{user}", readAny, func(w http.ResponseWriter, r *http.Request, _ caller) { s.showAccount(w, r.PathValue("user")) })
	known("GET /user/{account}", readAny, func(w http.ResponseWriter, r *http.Request, _ caller) {
		s.showAccount(w, s.loginOf(r.PathValue("account")))
	})
}

// loginOf returns the login that an account has now; empty: there is no such account.
func (s *Server) loginOf(id string) (login string) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return ""
	}
	s.look(func(w *world) {
		sc := w.scene(s, nil)
		logins := maps.Clone(knownIDs)
		for name := range w.Accounts {
			logins[name] = 0
		}
		for _, r := range w.Repos {
			for name := range r.Permissions {
				logins[name] = 0
			}
		}
		for name := range logins {
			if sc.accountOf(name).ID == number && w.known(name) {
				login = name
			}
		}
	})
	return login
}

// showAccount answers with a public profile.
// https://docs.github.com/rest/users/users#get-a-user
func (s *Server) showAccount(w http.ResponseWriter, login string) {
	var found bool
	s.look(func(w *world) { found = w.known(login) })
	endMissing(!found)
	user := s.sceneOf("").user(login)
	user["name"], user["company"], user["blog"], user["location"], user["email"], user["bio"] = nil, nil, "", nil, nil, nil
	user["public_repos"], user["public_gists"], user["followers"], user["following"] = 0, 0, 0, 0
	user["created_at"], user["updated_at"] = installedAt, installedAt
	answer(w, http.StatusOK, user)
}

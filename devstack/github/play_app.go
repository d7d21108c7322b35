package github

import (
	"net/http"
	"strings"
)

// appPage is the App for the organisation's owner: its permissions, where it is installed, and the stand-in's controls.
type appPage struct {
	frame
	Manifest  Manifest
	Installed *installation
	Covered   []covered
	Limits    Limits
	Calls     int
	Most      int // content writes in one minute
}

type covered struct {
	Name   string
	Access bool
}

func (s *Server) playApp(w http.ResponseWriter, r *http.Request) {
	p := appPage{frame: s.frame(r, "The App"), Manifest: s.manifest(), Installed: s.installed(), Calls: len(s.Calls()), Most: s.MostContent(60e9)}
	s.look(func(world *world) {
		p.Limits = s.meter.limits
		for _, repo := range world.Repos {
			if !repo.Gone {
				p.Covered = append(p.Covered, covered{repo.Name, repo.Access})
			}
		}
	})
	s.render(w, r, http.StatusOK, "app.html", p)
}

// playAppAct executes what an owner of the organisation may do.
func (s *Server) playAppAct(w http.ResponseWriter, r *http.Request) {
	as, repo := actingOrFirst(r), s.In(r.PostFormValue("repo"))
	var err error
	switch act := r.PathValue("act"); act {
	case "install":
		_, err = s.Install(as)
	case "uninstall":
		err = s.Uninstall(as)
	case "suspend":
		err = s.Suspend(as)
	case "unsuspend":
		err = s.Unsuspend(as)
	case "add", "remove":
		err = repo.SetAccess(act == "add", as)
	case "rename":
		err = repo.Rename(strings.TrimSpace(r.PostFormValue("name")), as)
	case "rename-account":
		err = s.RenameAccount(r.PostFormValue("login"), strings.TrimSpace(r.PostFormValue("name")))
	case "add-account":
		err = s.AddAccount(strings.TrimSpace(r.PostFormValue("name")), r.PostFormValue("bot") != "")
	case "lose":
		s.DropNext(1)
	case "strict":
		s.look(func(*world) { s.meter.limits.Strict = !s.meter.limits.Strict })
	default:
		notFound(w)
		return
	}
	s.back(w, r, "/playground/app", err, as)
}

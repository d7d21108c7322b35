package slack

import "slices"

func (s *Server) userInfo(a args) reply {
	p, ok := find(s.world.People, a["user"])
	if !ok || p.ID != a["user"] {
		return no("user_not_found")
	}
	return reply{"ok": true, "user": s.user(p)}
}

// userByEmail finds members alone: neither strangers nor deactivated accounts nor bots.
func (s *Server) userByEmail(a args) reply {
	i := slices.IndexFunc(s.world.People, func(p Person) bool {
		return p.Email != "" && p.Email == a["email"] && !p.Stranger() && !p.Deactivated && !p.Bot
	})
	if i < 0 {
		return no("users_not_found")
	}
	return reply{"ok": true, "user": s.user(s.world.People[i])}
}

func (s *Server) userList(a args) reply {
	var list []any
	for _, p := range s.world.People {
		list = append(list, s.user(p))
	}
	return page(a, "members", list)
}

func (s *Server) groupList(a args) reply {
	list := []any{}
	for _, g := range Groups {
		o := map[string]any{
			"id": g.ID, "team_id": Workspace, "is_usergroup": true, "name": g.Name, "handle": g.Handle, "description": "", "date_delete": 0,
		}
		if a.is("include_count") {
			o["user_count"] = len(g.Members)
		}
		if a.is("include_users") {
			o["users"] = g.Members
		}
		list = append(list, o)
	}
	return reply{"ok": true, "usergroups": list}
}

func (s *Server) groupUsers(a args) reply {
	i := slices.IndexFunc(Groups, func(g Group) bool { return g.ID == a["usergroup"] })
	if i < 0 {
		return no("no_such_subteam")
	}
	return reply{"ok": true, "users": Groups[i].Members}
}

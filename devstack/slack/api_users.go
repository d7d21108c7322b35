package slack

func (s *Server) userInfo(a args) reply {
	p, ok := find(s.world.People, a["user"])
	if !ok || p.ID != a["user"] {
		return no("user_not_found")
	}
	return reply{"ok": true, "user": s.user(p)}
}

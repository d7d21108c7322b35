package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const (
	defaultTail = 200
	maxTail     = 5000
)

// WatchClusters implements GET /api/v1/watch.
func (s *server) WatchClusters(w http.ResponseWriter, r *http.Request, params v1.WatchClustersParams) {
	q := s.newQuery(r)
	if len(params.Cluster) > maxLimit {
		q.addRefusal("cluster", "there are too many", "at most 500, or none for all")
	}
	_, err := s.readFilter(q, params.Filter)
	if err = cmp.Or(err, q.refusals()); err != nil {
		s.writeError(w, r, err)
		return
	}
	out, ctx, cancel := s.newStream(w, r)
	if out == nil {
		return
	}
	defer cancel()
	err = s.App.Watch(ctx, params.Cluster, app.View{
		Who: s.whoNow(r), Filter: params.Filter, Every: heartbeat, Begin: out.Begin, Beat: out.Beat,
		Show: func(row clusters.Row) error { return out.SendJSON("cluster", toCluster(row, s.App.NameOf)) },
	})
	s.endWith(w, r, ctx, out, err)
}

// GetLogs implements GET /api/v1/clusters/{id}/logs.
func (s *server) GetLogs(w http.ResponseWriter, r *http.Request, id string, params v1.GetLogsParams) {
	q := s.newQuery(r)
	lines := q.readNumber("lines", *cmp.Or(params.Lines, new(0)), defaultTail, 0, maxTail)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	log, err := s.App.Log(r.Context(), principal(r), id, params.Job, lines)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if params.Follow {
		s.follow(w, r, log)
		return
	}
	text := strings.Join(log.Lines, "\n")
	if text != "" {
		text += "\n"
	}
	bytesOf(w, "text/plain; charset=utf-8", http.StatusOK, []byte(text))
}

// follow sends a log line by line until its job has ended.
func (s *server) follow(w http.ResponseWriter, r *http.Request, log app.Log) {
	out, ctx, cancel := s.newStream(w, r)
	if out == nil {
		return
	}
	defer cancel()
	lines := func(all []string) error {
		for _, line := range all {
			if err := out.SendJSON("log", line); err != nil {
				return err
			}
		}
		return nil
	}
	err := out.Begin()
	if err == nil {
		err = lines(log.Lines)
	}
	if err != nil {
		return // the reader disconnected
	}
	ended, err := s.App.FollowLog(ctx, log, app.Reader{Who: s.whoNow(r), Every: heartbeat, Lines: lines, Beat: out.Beat})
	if err == nil {
		err = out.SendJSON("end", job(ended))
	}
	s.endWith(w, r, ctx, out, err)
}

// endWith reports why a stream ended: as a normal response if it had not begun, otherwise on the stream and in the log, unless the
// reader disconnected, its time was over or the server stops.
func (s *server) endWith(w http.ResponseWriter, r *http.Request, ctx context.Context, out *eventstream.Stream, err error) {
	switch {
	case err == nil || ctx.Err() != nil || out.Gone:
	case !out.Begun:
		s.writeError(w, r, err)
	default:
		s.endStream(r, out, err)
	}
}

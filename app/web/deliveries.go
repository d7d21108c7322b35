package web

import (
	"net/http"
	"net/url"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/inbox"
)

type deliveriesView struct {
	Tabs  []way
	Rows  []inbox.DeliveryInfo
	Older string // URL of the next page
}

type deliveryView struct {
	inbox.DeliveryInfo
	Body      string
	MayReplay bool
}

// listDeliveries shows what GitHub and Slack sent.
func (p *pages) listDeliveries(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	topic, state := r.FormValue("topic"), inbox.DeliveryState("")
	v := deliveriesView{}
	for _, s := range []struct {
		state inbox.DeliveryState
		text  string
	}{{"", "All"}, {inbox.DeliveryReceived, "Waiting"}, {inbox.DeliveryFailed, "Failed"}, {inbox.DeliveryDone, "Done"}} {
		here := r.FormValue("state") == string(s.state)
		if here {
			state = s.state
		}
		v.Tabs = append(v.Tabs, way{To: "/deliveries?" + deliverySelection(topic, s.state).Encode(), Label: s.text, Here: here})
	}
	rows, next, err := p.Admin.Deliveries(r.Context(), who, inbox.DeliveryFilter{Topic: topic, State: state, Cursor: cursorOf(r)})
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v.Rows, v.Older = rows, nextPageURL("/deliveries", deliverySelection(topic, state), next)
	p.renderPage(w, r, who, http.StatusOK, "deliveries", v)
}

// deliverySelection returns a URL's parameters for a selection of deliveries.
func deliverySelection(topic string, state inbox.DeliveryState) url.Values {
	q := url.Values{}
	if topic != "" {
		q.Set("topic", topic)
	}
	if state != "" {
		q.Set("state", string(state))
	}
	return q
}

func (p *pages) showDelivery(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	info, body, err := p.Admin.Delivery(r.Context(), who, r.PathValue("id"), originOf(r))
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "delivery", deliveryView{DeliveryInfo: info, Body: formatBody(body), MayReplay: who.MayAnywhere(policy.ActReplay)})
}

// replayDelivery processes a delivery again.
func (p *pages) replayDelivery(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	_, err := p.Admin.Replay(r.Context(), who, id, originOf(r))
	p.answerForm(w, r, who, "/deliveries/"+id, "It is being processed again. The result appears here in a moment.", err)
}

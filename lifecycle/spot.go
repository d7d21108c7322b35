package lifecycle

// Spot is whether a cluster's workers are spot machines, which the cloud sells for less and may take back.
type Spot string

// The ways in which the machines of workers are paid.
const (
	NoSpot      Spot = ""          // on demand
	SpotWorkers Spot = "workers"   // they are spot machines, or are to be
	SpotGivenUp Spot = "on_demand" // they were to be, and its last try orders them on demand
)

// SpotUnavailable is the reason of a create that got no spot machines, or lost one while it ran.
const SpotUnavailable = "AWSSpotUnavailable"

// noSpot says what the last try of a cluster with spot machines does.
const noSpot = "with its workers on demand instead of spot"

// orderSpot decides whether the create that is opened now orders spot machines. The last try never does, so that what is missing there fails no
// cluster.
func (m *deciding) orderSpot() {
	n := m.next()
	if n.Spot == SpotWorkers && n.Tries >= n.MaxTries {
		n.Spot = SpotGivenUp
	}
	m.d.Spot = n.Spot == SpotWorkers
}

// withoutSpot adds that the tries after that many are made without spot machines, if they are.
func (c Cluster) withoutSpot(text string, tries int) string {
	if c.Spot == SpotGivenUp || c.Spot == SpotWorkers && tries+1 >= c.MaxTries {
		return text + ", " + noSpot
	}
	return text
}

// WhyNoSleep says why a cluster that has no way to sleep has none.
func (c Cluster) WhyNoSleep() string {
	if c.Spot != NoSpot {
		return "its profile orders spot machines, which AWS ends instead of stopping them"
	}
	return "its profile has no way to sleep"
}

package store

import (
	"github.com/ocpctl/ocpctl/store/internal/fence"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// The types that the packages of the store share.
type (
	Addon         = rows.Addon
	AddonWait     = rows.AddonWait
	Afford        = usage.Afford
	Approval      = rows.Approval
	ApprovalKind  = rows.ApprovalKind
	ApprovalState = rows.ApprovalState
	ApprovalVote  = rows.ApprovalVote
	ArtifactRow   = fence.ArtifactRow
	Change        = pg.Change
	Condition     = rows.Condition
	Contradiction = fence.Contradiction
	Counts        = usage.Counts
	Effect        = rows.Effect
	EffectKind    = rows.EffectKind
	EndKind       = rows.EndKind
	IdentityRow   = fence.IdentityRow
	Instance      = pg.Instance
	Lease         = fence.Lease
	Options       = pg.Options
	Origin        = rows.Origin
	Outcome       = rows.Outcome
	Outputs       = rows.Outputs
	PRRef         = rows.PRRef
	Pressed       = rows.Pressed
	Reply         = rows.Reply
	ReplyOnce     = rows.ReplyOnce
	ResultRow     = fence.ResultRow
	Rise          = usage.Rise
	Row           = rows.Row
	Scope         = usage.Scope
	SlackPlace    = rows.SlackPlace
	Spec          = rows.Spec
	TakenOver     = pg.TakenOver
	Threshold     = usage.Threshold
	Usage         = usage.Usage
)

// The errors that all of them return.
var (
	ErrConflict  = pg.ErrConflict
	ErrFenced    = pg.ErrFenced
	ErrKeyReused = pg.ErrKeyReused
	ErrNameTaken = pg.ErrNameTaken
	ErrNotFound  = pg.ErrNotFound
	ErrStale     = pg.ErrStale
)

// Their constants.
const (
	AddonCondition    = rows.AddonCondition
	ApprovalApproved  = rows.ApprovalApproved
	ApprovalExpired   = rows.ApprovalExpired
	ApprovalPending   = rows.ApprovalPending
	ApprovalRefused   = rows.ApprovalRefused
	ApprovalUsed      = rows.ApprovalUsed
	ApprovalVoid      = rows.ApprovalVoid
	ApproveCreate     = rows.ApproveCreate
	ApproveKubeadmin  = rows.ApproveKubeadmin
	ApproveKubeconfig = rows.ApproveKubeconfig
	EndLabelRemoved   = rows.EndLabelRemoved
	EndPRClosed       = rows.EndPRClosed
	KindCheck         = rows.KindCheck
	KindComment       = rows.KindComment
	KindDeployment    = rows.KindDeployment
	KindLabel         = rows.KindLabel
	KindSlackMessage  = rows.KindSlackMessage
	KindSlackThread   = rows.KindSlackThread
	Lifecycle         = pg.Lifecycle
)

// NewID returns a row id: the prefix, an underscore and a ULID, e.g. clu_01J…. Later ids sort after earlier ones.
func NewID(prefix string) string { return pg.NewID(prefix) }

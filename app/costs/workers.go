package costs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// budgetsEvery is how often budgets are looked at that no request reaches.
const budgetsEvery = 15 * time.Minute

// BudgetsWorker looks at the budgets.
type BudgetsWorker struct {
	river.WorkerDefaults[queue.BudgetsArgs]
	costs *Service
}

// NewBudgetsWorker returns the worker of queue.BudgetsArgs.
func NewBudgetsWorker(s *Service) *BudgetsWorker { return &BudgetsWorker{costs: s} }

// Periodic returns the periodic job.
func (w *BudgetsWorker) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(budgetsEvery), func() (river.JobArgs, *river.InsertOpts) {
		return queue.BudgetsArgs{}, nil
	}, &river.PeriodicJobOpts{ID: "budgets", RunOnStart: true})
}

// Work implements river.Worker.
func (w *BudgetsWorker) Work(ctx context.Context, _ *river.Job[queue.BudgetsArgs]) error {
	return w.costs.AnnounceBudgets(ctx)
}

// BillWorker reads the cloud's bill.
type BillWorker struct {
	river.WorkerDefaults[queue.BillArgs]
	costs *Service
	bill  Bill
	every time.Duration
}

// NewBillWorker returns the worker of queue.BillArgs. bill nil: there is none to read.
func NewBillWorker(s *Service, bill Bill, every time.Duration) *BillWorker {
	return &BillWorker{costs: s, bill: bill, every: every}
}

// Periodic returns the periodic job.
func (w *BillWorker) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(w.every), func() (river.JobArgs, *river.InsertOpts) {
		return queue.BillArgs{}, nil
	}, &river.PeriodicJobOpts{ID: "bill", RunOnStart: true})
}

// Timeout implements river.Worker: a month's export can have gigabytes.
func (w *BillWorker) Timeout(*river.Job[queue.BillArgs]) time.Duration { return billTimeout }

const billTimeout = 30 * time.Minute

// Work implements river.Worker.
func (w *BillWorker) Work(ctx context.Context, _ *river.Job[queue.BillArgs]) error {
	if w.bill == nil {
		return nil
	}
	return w.costs.ReadBill(ctx, w.bill)
}

package hooks

import (
	"sync"
	"time"
)

const (
	rememberFor = 30 * time.Second // so a revoked permission is revoked here within this time, and within a minute by any clock
	rememberAll = 4096             // number of cached answers; above it expired ones are removed, and if that is not enough all
)

// memory caches answers for a short time. Failures are not cached.
type memory[T any] struct {
	now  func() time.Time
	mu   sync.Mutex
	kept map[string]answered[T]
}

type answered[T any] struct {
	value T
	until time.Time
}

func newMemory[T any](now func() time.Time) *memory[T] {
	return &memory[T]{now: now, kept: map[string]answered[T]{}}
}

// askOnce returns the cached answer, or asks. Two concurrent callers both ask. The cache time counts from before the question.
func (m *memory[T]) askOnce(key string, question func() (T, error)) (T, error) {
	asked := m.now()
	m.mu.Lock()
	known, ok := m.kept[key]
	m.mu.Unlock()
	if ok && asked.Before(known.until) {
		return known.value, nil
	}
	value, err := question()
	if err != nil {
		return value, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.removeExpired(asked)
	m.kept[key] = answered[T]{value, asked.Add(rememberFor)}
	return value, nil
}

func (m *memory[T]) removeExpired(now time.Time) {
	if len(m.kept) < rememberAll {
		return
	}
	for key, known := range m.kept {
		if !now.Before(known.until) {
			delete(m.kept, key)
		}
	}
	if len(m.kept) >= rememberAll {
		clear(m.kept)
	}
}

// Package garden waters beds on a schedule.
package garden

import (
	"context"
	"fmt"
	"io"
	"sync"
)

const (
	MaxBeds, MinBeds = 40, 1
	// DefaultLitres is given to a bed without a plan.
	DefaultLitres float64 = 2.5
)

const (
	Dry Moisture = iota
	Damp
	Wet
)

var (
	ErrNoWater      = fmt.Errorf("the tank is empty")
	width, height   int
	onOpen, onClose = func() { local := 1; _ = local }, func() {}
)

// Moisture is how wet a bed is.
type Moisture int

//go:generate stringer -type=Moisture
func (m Moisture) String() string { return [...]string{"dry", "damp", "wet"}[m] }

type (
	Litres = float64
	Step   func(ctx context.Context, bed *Bed) error
)

// Bed is a piece of ground.
type Bed struct {
	sync.Mutex
	*Plan
	io.Writer `json:"-"`
	X, Y      int
	Name      string `json:"name,omitempty"`
	sensors   struct {
		rain, sun bool
	}
}

type Plan struct{ Days []int }

type Valve interface {
	io.Closer
	Open(ctx context.Context, litres Litres) (left Litres, err error)
}

// Queue keeps what waits.
type Queue[T any, K comparable] struct {
	items map[K]T
}

func (b *Bed) Close() error { return nil }

func (p *Plan) Close() error {
	return nil
}

func (q *Queue[T, K]) Push(key K, item T) {
	q.items[key] = item
}

func Map[T, R any](all []T, each func(T) R) []R {
	var out []R
	for _, one := range all {
		out = append(out, each(one))
	}
	return out
}

func init() {
	type hidden struct{ a int }
	const inner = 3
}

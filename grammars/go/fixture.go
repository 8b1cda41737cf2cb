package shapes

import (
	"fmt"
	geo "example.com/geo/point"
)

import "strings"

const Limit = 10

const (
	Red Color = iota
	Green
)

var counter, other int = 1, 2

type Color int
type Alias = strings.Builder

type Größe[T any] struct {
	geo.Point
	Width, Height float64 `json:"width"`
	items         map[string]T
}

type (
	// Shape has an area.
	Shape interface {
		fmt.Stringer
		Area(scale float64) (float64, error)
	}
)

func New[T any](width float64, // how wide
	height float64) *Größe[T] {
	inner := compute(width)
	const local = 3
	return &Größe[T]{Width: inner}
}

func (g *Größe[T]) Area(scale float64) (area float64, err error) {
	helper := func(x float64) float64 { return x }
	return helper(g.Width) * g.Height, nil
}

func assembly(x int) int

func TestNew(t *testing.T) {}

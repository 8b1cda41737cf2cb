// Says which files of a Go module refer to each definition, by the compiler's own types (go/types).
//
// Called by the bench `references`: `go run references_go.go DIR`. Prints one JSON object like `references_typescript.mjs`. Packages
// outside of the module are read from their sources if `go list` knows them; otherwise what comes from them is unknown.
//
// A definition is what a package declares at its top, a method, or a field of a struct or an interface.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

type definition struct {
	Name      string   `json:"name"`
	Container *string  `json:"container"`
	Kind      string   `json:"kind"`
	Path      string   `json:"path"`
	Line      int      `json:"line"`
	Files     []string `json:"files"`
}

type module struct {
	root, path string
	fset       *token.FileSet
	packages   map[string]*types.Package
	std        types.Importer
	info       types.Info
}

// Import type-checks a package of the module once, so that its objects are the same for all that import it.
func (m *module) Import(path string) (*types.Package, error) {
	if known, ok := m.packages[path]; ok {
		return known, nil
	}
	if path != m.path && !strings.HasPrefix(path, m.path+"/") {
		return m.std.Import(path)
	}
	found := m.check(filepath.Join(m.root, strings.TrimPrefix(path, m.path)), path, false)
	m.packages[path] = found
	return found, nil
}

func (m *module) check(directory, path string, tests bool) *types.Package {
	listed, _ := build.ImportDir(directory, 0)
	names := append([]string{}, listed.GoFiles...)
	if tests {
		names = append(names, listed.TestGoFiles...)
	}
	return m.checkFiles(directory, path, names)
}

func (m *module) checkFiles(directory, path string, names []string) *types.Package {
	var files []*ast.File
	for _, name := range names {
		if file, err := parser.ParseFile(m.fset, filepath.Join(directory, name), nil, parser.SkipObjectResolution); err == nil {
			files = append(files, file)
		}
	}
	config := types.Config{Importer: m, Error: func(error) {}, FakeImportC: true}
	checked, _ := config.Check(path, m.fset, files, &m.info)
	return checked
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		panic(err)
	}
	m := &module{root: root, fset: token.NewFileSet(), packages: map[string]*types.Package{}}
	m.path = strings.Fields(string(text))[1]
	m.std = importer.ForCompiler(m.fset, "source", nil)
	m.info = types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	os.Chdir(root)
	filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "testdata" || entry.Name() == "vendor" {
			return filepath.SkipDir
		}
		below, _ := filepath.Rel(root, path)
		name := strings.TrimSuffix(m.path+"/"+filepath.ToSlash(below), "/.")
		listed, err := build.ImportDir(path, 0)
		if err != nil {
			return nil
		}
		m.Import(name)
		// Tests see the objects of the package by position, since they are checked again with it.
		m.checkFiles(path, name, append(append([]string{}, listed.GoFiles...), listed.TestGoFiles...))
		m.checkFiles(path, name+"_test", listed.XTestGoFiles)
		return nil
	})
	place := func(at token.Pos) token.Position { return m.fset.Position(at) }
	relative := func(at token.Position) string {
		below, _ := filepath.Rel(root, at.Filename)
		return filepath.ToSlash(below)
	}
	type key struct {
		file         string
		line, column int
	}
	at := func(object types.Object) key {
		position := place(object.Pos())
		return key{relative(position), position.Line, position.Column}
	}
	found := map[key]*definition{}
	files := map[key]map[string]bool{}
	owners := map[types.Object]string{}
	for _, object := range m.info.Defs {
		if name, ok := object.(*types.TypeName); ok {
			switch of := name.Type().Underlying().(type) {
			case *types.Struct:
				for n := 0; n < of.NumFields(); n++ {
					owners[of.Field(n)] = name.Name()
				}
			case *types.Interface:
				for n := 0; n < of.NumExplicitMethods(); n++ {
					owners[of.ExplicitMethod(n)] = name.Name()
				}
			}
		}
	}
	for _, object := range m.info.Defs {
		if object == nil || object.Name() == "_" || object.Pkg() == nil || strings.HasPrefix(at(object).file, "..") {
			continue
		}
		made := definition{Name: object.Name(), Path: at(object).file, Line: at(object).line}
		if owner, ok := owners[object]; ok {
			made.Container = &owner
		}
		switch object := object.(type) {
		case *types.Func:
			made.Kind = "function"
			if receiver := object.Type().(*types.Signature).Recv(); receiver != nil {
				made.Kind = "method"
				of := receiver.Type()
				if pointer, ok := of.(*types.Pointer); ok {
					of = pointer.Elem()
				}
				if named, ok := of.(*types.Named); ok {
					owner := named.Obj().Name()
					made.Container = &owner
				}
			}
		case *types.TypeName:
			made.Kind = "type"
		case *types.Var:
			made.Kind = "variable"
			if object.IsField() {
				made.Kind = "field"
			}
		case *types.Const:
			made.Kind = "constant"
		default:
			continue
		}
		if made.Container == nil && object.Parent() != object.Pkg().Scope() {
			continue
		}
		found[at(object)] = &made
		files[at(object)] = map[string]bool{made.Path: true}
	}
	for name, object := range m.info.Uses {
		if object == nil || object.Pkg() == nil {
			continue
		}
		switch of := object.(type) {
		case *types.Func:
			object = of.Origin()
		case *types.Var:
			object = of.Origin()
		}
		if known, ok := files[at(object)]; ok {
			known[relative(place(name.Pos()))] = true
		}
	}
	definitions := []*definition{}
	for where, one := range found {
		for file := range files[where] {
			one.Files = append(one.Files, file)
		}
		sort.Strings(one.Files)
		definitions = append(definitions, one)
	}
	sort.Slice(definitions, func(a, b int) bool {
		one, other := definitions[a], definitions[b]
		return one.Path < other.Path || one.Path == other.Path && one.Line < other.Line
	})
	json.NewEncoder(os.Stdout).Encode(map[string]any{"definitions": definitions, "unknown": map[string][]string{}})
}

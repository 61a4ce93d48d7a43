package airlock

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAPathMatchesAPatternOrNot(t *testing.T) {
	check := func(pattern, path string, expected bool) {
		t.Helper()
		if MatchesGlob(pattern, path) != expected {
			t.Errorf("%s %s", pattern, path)
		}
	}
	check("**/*.{go,mod}", "go.mod", true)
	check("**/*.{go,mod}", "src/deep/tool.go", true)
	check("src/**", "src/a/b", true)
	check("*.md", ".md", false)
	check("**", ".git/config", false)
	check("{a,{b,c}d}?", "cd", false)
	check("{a,{b,c}d}?", "cdx", true)
	check("{a", "{a", true)
	check("[ab]", "a", false)
}

func TestFilesAreFoundSortedAndWithoutLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"b/x.md", "b.md", "b/y.txt", ".git/z.md"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("b.md", "a.md"); err != nil {
		t.Fatal(err)
	}
	found, err := Glob("**/*.md")
	if err != nil || !slices.Equal(found, []string{"b.md", "b/x.md"}) {
		t.Error(found, err)
	}
}

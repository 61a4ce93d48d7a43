package airlock

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// Glob gives the files of the workspace whose paths match a pattern, sorted.
//
// In it, * stands for any characters of one name and ? for one, ** as a whole name for any folders
// or none, and at the end for all that is below; {go,mod} is either. Nothing else is special, and
// capital letters differ from small ones. A name that begins with a dot is matched only by a pattern
// that has that dot, so that .git is not entered unless it is named.
//
// The paths are relative to the workspace, with / between their names. Only files are in it, each
// once: symbolic links are neither followed nor listed. That nothing matches is no error; that a
// folder can't be read is one.
func Glob(pattern string) ([]string, error) {
	steps := compileGlob(pattern)
	found := []string{}
	// Each but the workspace itself ends with a slash.
	folders := []string{""}
	for len(folders) > 0 {
		folder := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		entries, err := os.ReadDir(workspace() + "/" + folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			path := folder + entry.Name()
			if entry.IsDir() {
				if reached, _ := steps.follow(path + "/"); slices.Contains(reached, true) {
					folders = append(folders, path+"/")
				}
			} else if entry.Type().IsRegular() && steps.match(path) {
				found = append(found, path)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// MatchesGlob tells whether a path matches a pattern of [Glob], whatever is there.
func MatchesGlob(pattern, path string) bool {
	return compileGlob(pattern).match(strings.TrimPrefix(path, "./"))
}

// workspace is a folder from which no path leads elsewhere: a relative one that begins with
// "workspace" or "scratch" would be taken for the component's own.
func workspace() string {
	if runtime.GOOS == "wasip1" {
		return "/workspace"
	}
	return "."
}

// globSteps are what a pattern asks of a path, step by step. A path is followed through all of its
// ways at once, so that no pattern takes longer than its length times the path's.
type globSteps []globStep

type globStep struct {
	kind globKind
	// The character.
	character rune
	// Where the next alternative begins, or the braces end.
	to int
}

type globKind uint8

const (
	globCharacter globKind = iota
	// ?
	globOne
	// *
	globMany
	// **/ between two names; the step behind it is globInside.
	globFolders
	// **/ within a name.
	globInside
	// An alternative begins here.
	globEither
	// An alternative ends here.
	globJump
)

func compileGlob(pattern string) globSteps {
	characters := []rune(strings.TrimPrefix(pattern, "./"))
	var steps globSteps
	// Of the braces that are open: the latest alternative, and where others ended.
	type braces struct {
		alternative int
		ends        []int
	}
	var open []braces
	for at := 0; at < len(characters); {
		character, within := characters[at], len(open) > 0
		if after := behindFolders(characters, at, within); after > 0 {
			steps = append(steps, globStep{kind: globFolders}, globStep{kind: globInside})
			if characters[after-1] == '*' {
				steps = append(steps, globStep{kind: globMany})
			}
			at = after
			continue
		}
		at++
		switch {
		case character == '*':
			steps = append(steps, globStep{kind: globMany})
		case character == '?':
			steps = append(steps, globStep{kind: globOne})
		case character == '{' && isClosed(characters[at:]):
			open = append(open, braces{alternative: len(steps)})
			steps = append(steps, globStep{kind: globEither, to: len(steps) + 1})
		case character == ',' && within:
			last := &open[len(open)-1]
			last.ends = append(last.ends, len(steps))
			steps = append(steps, globStep{kind: globJump})
			steps[last.alternative].to = len(steps)
			last.alternative = len(steps)
			steps = append(steps, globStep{kind: globEither, to: len(steps) + 1})
		case character == '}' && within:
			for _, end := range open[len(open)-1].ends {
				steps[end].to = len(steps)
			}
			open = open[:len(open)-1]
		default:
			steps = append(steps, globStep{character: character})
		}
	}
	return steps
}

// behindFolders tells where the pattern goes on behind a ** that is a whole name, with its slash; 0
// where there is none.
func behindFolders(characters []rune, at int, within bool) int {
	before := '/'
	if at > 0 {
		before = characters[at-1]
	}
	if characters[at] != '*' || at+1 == len(characters) || characters[at+1] != '*' {
		return 0
	}
	if before != '/' && !(within && (before == '{' || before == ',')) {
		return 0
	}
	if at+2 == len(characters) {
		return at + 2
	}
	switch after := characters[at+2]; {
	case after == '/':
		return at + 3
	case within && (after == ',' || after == '}'):
		return at + 2
	}
	return 0
}

// isClosed tells whether there is a } for the { before.
func isClosed(rest []rune) bool {
	depth := 1
	for _, character := range rest {
		switch character {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return true
		}
	}
	return false
}

func (s globSteps) match(path string) bool {
	reached, begins := s.follow(path)
	s.skip(reached, begins, -1)
	return reached[len(s)]
}

// follow gives the steps that are next behind a path, and whether a name begins there.
func (s globSteps) follow(path string) (reached []bool, begins bool) {
	reached = make([]bool, len(s)+1)
	reached[0], begins = true, true
	for _, character := range path {
		s.skip(reached, begins, character)
		isName := character != '/'
		isShown := isName && !(begins && character == '.')
		next := make([]bool, len(reached))
		for at, step := range s {
			if !reached[at] {
				continue
			}
			switch step.kind {
			case globCharacter:
				next[at+1] = next[at+1] || step.character == character
			case globOne:
				next[at+1] = next[at+1] || isShown
			case globMany:
				next[at] = next[at] || isShown
			case globFolders:
				next[at+1] = next[at+1] || begins && isShown
			case globInside:
				if isName {
					next[at] = true
				} else {
					next[at-1] = true
				}
			}
		}
		reached, begins = next, !isName
	}
	return reached, begins
}

// skip adds the steps that are reached without a character, of which the next one is given, or a
// negative one at the end. All of these lie ahead.
func (s globSteps) skip(reached []bool, begins bool, character rune) {
	for at, step := range s {
		if !reached[at] {
			continue
		}
		switch step.kind {
		case globMany:
			// *.md is not .md.
			if !(begins && character == '.') {
				reached[at+1] = true
			}
		case globFolders:
			if begins {
				reached[at+2] = true
			}
		case globEither:
			reached[at+1], reached[step.to] = true, true
		case globJump:
			reached[step.to] = true
		}
	}
}

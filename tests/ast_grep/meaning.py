"""Compares a source with what a rewrite made of it, by their syntax trees.

This knows nothing of how Airlock does it: the trees are those of ast-grep's own package for Python,
and the matches are those of its command line. It finds

- code outside of the matches that has changed;
- captured code that isn't a node any more, or that was lost.
"""

import json
import re
import sys

from ast_grep_py import SgNode, SgRoot

VARIABLE = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)")

Place = tuple[int, int]


def is_comment(node: SgNode) -> bool:
    return "comment" in node.kind()


def children(node: SgNode) -> list[SgNode]:
    """Without comments, and without tokens that have no text."""
    return [
        child
        for child in node.children()
        if not is_comment(child) and (child.children() or child.text().strip())
    ]


def place(node: SgNode) -> Place:
    return node.range().start.index, node.range().end.index


def tokens(node: SgNode, within: Place | None = None) -> list[str]:
    found, todo = [], [node]
    while todo:
        at = todo.pop()
        start, end = place(at)
        if within and (end <= within[0] or within[1] <= start):
            continue
        below = children(at)
        if below:
            todo.extend(reversed(below))
        elif not is_comment(at):
            found.append(text_of(at))
    return found


def text_of(leaf: SgNode) -> str:
    """Of text between tags, how it is broken into lines means nothing."""
    return " ".join(leaf.text().split()) if leaf.kind() == "jsx_text" else leaf.text().strip("\n")


class Match:
    """What ast-grep's command line says of one match, in characters."""

    def __init__(self, said: dict, index: list[int]):
        def span(said: dict) -> Place:
            offsets = said["range"]["byteOffset"]
            return index[offsets["start"]], index[offsets["end"]]

        variables = said.get("metaVariables") or {}
        self.place = span(said)
        self.single = {name: span(node) for name, node in variables.get("single", {}).items()}
        self.multi = {}
        for name, nodes in variables.get("multi", {}).items():
            if nodes:
                self.multi[name] = (span(nodes[0])[0], span(nodes[-1])[1])


class Comparison:
    def __init__(self, language: str, template: str):
        self.language = language
        self.variables = {
            (multiple or single, bool(multiple)) for multiple, single in VARIABLE.findall(template)
        }
        self.faults: list[str] = []
        self.all: list[Match] = []
        self.matches: dict[Place, Match] = {}

    def compare(self, before: str, after: str, said: list[dict]) -> list[str]:
        """Changes besides the matches, a line each. Empty if there are none."""
        index = [0] * (len(before.encode()) + 1)
        at = 0
        for number, character in enumerate(before):
            at += len(character.encode())
            index[at] = number + 1
        self.faults = []
        self.all = [Match(match, index) for match in said]
        self.matches = self.outermost(self.all)
        self.old = SgRoot(before, self.language).root()
        self.walk(self.old, [SgRoot(after, self.language).root()])
        return self.faults

    @staticmethod
    def outermost(matches: list[Match]) -> dict[Place, Match]:
        found, end = {}, -1
        for match in sorted(matches, key=lambda match: (match.place[0], -match.place[1])):
            if match.place[1] > end:
                found[match.place] = match
                end = match.place[1]
        return found

    def walk(self, old: SgNode, new: list[SgNode]):
        todo = [(old, new)]
        while todo:
            one, others = todo.pop()
            todo.extend(self.compare_nodes(one, others))

    def match_at(self, node: SgNode) -> Match | None:
        """The match that a node is, but for a semicolon or a space at its end."""
        start, end = place(node)
        text = node.text()
        ends = (end, start + len(text.rstrip()), start + len(text.rstrip().removesuffix(";").rstrip()))
        return next((self.matches[start, end] for end in ends if (start, end) in self.matches), None)

    def compare_nodes(self, one: SgNode, others: list[SgNode]):
        match = self.match_at(one)
        if match:
            self.compare_match(one, match, others)
            return []
        if len(others) != 1:
            self.fault(one, "is several nodes now, or none")
            return []
        [other] = others
        if one.kind() != other.kind():
            self.fault(one, f"is {other.kind()} now: {other.text()[:60]!r}")
            return []
        olds, news = children(one), children(other)
        if not olds and not news:
            if text_of(one) != text_of(other):
                self.fault(one, f"is {other.text()[:60]!r} now")
            return []
        if len(olds) == len(news):
            return [(child, [now]) for child, now in zip(olds, news)]
        matched = [index for index, child in enumerate(olds) if self.match_at(child)]
        if len(matched) == 1:
            [index] = matched
            behind = len(olds) - index - 1
            if len(news) >= index + behind:
                runs = [[now] for now in news[:index]]
                runs.append(news[index : len(news) - behind])
                runs += [[now] for now in news[len(news) - behind :]]
                return list(zip(olds, runs))
        self.fault(one, f"has {len(news)} parts and had {len(olds)}")
        return []

    def compare_match(self, node: SgNode, match: Match, others: list[SgNode]):
        if tokens(node) == [token for other in others for token in tokens(other)]:
            return
        for name, is_multiple in self.variables:
            span = (match.multi if is_multiple else match.single).get(name)
            want = tokens(node, span) if span else []
            if is_multiple and want and want[-1] == ",":
                want.pop()
            is_kept = any(self.has(other, want, is_multiple) for other in others)
            if want and not is_kept and not self.only_inner_ones_changed(node, match, others):
                self.fault(node, f"{name} is lost in {' '.join(o.text() for o in others)[:80]!r}")

    def only_inner_ones_changed(self, node: SgNode, match: Match, others: list[SgNode]) -> bool:
        """Whether a match was left, and matches inside of it were not."""
        inner = Comparison(self.language, "")
        inner.variables = self.variables
        start, end = match.place
        inner.all = [
            other
            for other in self.all
            if start <= other.place[0] and other.place[1] <= end and other.place != match.place
        ]
        inner.matches = self.outermost(inner.all)
        if not inner.matches or len(others) != 1:
            return False
        inner.walk(node, others)
        return not inner.faults

    def has(self, node: SgNode, want: list[str], is_multiple: bool) -> bool:
        """Whether there is a node, or a row of nodes, with these tokens."""
        here = tokens(node)
        if here == want:
            return True
        if len(here) < len(want):
            return False
        if "token_tree" in node.kind() and " ".join(want) in " ".join(here):
            return True
        below = children(node)
        rows = [tokens(child) for child in below] if is_multiple else []
        for first in range(len(rows)):
            row: list[str] = []
            for child in rows[first:]:
                row += child
                if row == want:
                    return True
                if len(row) > len(want):
                    break
        return any(self.has(child, want, is_multiple) for child in below)

    def fault(self, node: SgNode, what: str):
        line = node.range().start.line + 1
        self.faults.append(f"{line}: {node.kind()} {node.text()[:60]!r} {what}")


def main():
    """Reads a rewrite with the texts of some files from standard input, and writes the faults."""
    sys.setrecursionlimit(100_000)
    given = json.load(sys.stdin)
    comparison = Comparison(given["language"], given["template"])
    faults = []
    for path, before, after, matches in given["files"]:
        faults += [(path, fault) for fault in comparison.compare(before, after, matches)]
    json.dump(faults, sys.stdout)


if __name__ == "__main__":
    main()

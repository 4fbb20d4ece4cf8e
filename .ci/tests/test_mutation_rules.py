"""Tests of mutation_rules."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import mutation_rules


class MutationRulesTests(unittest.TestCase):
    def changes(self, text):
        return [(mutation.line, mutation.change) for mutation, _ in mutation_rules.mutations("A.swift", text, 1)]

    def rewritten(self, text):
        """The text with `<number>` for the names of operators."""
        found = mutation_rules.mutations("A.swift", text, 1)
        digits = {value: key for key, value in mutation_rules.DIGITS.items()}
        new, columns = mutation_rules.rewrite(text, found)
        # Each column in bytes is the place of a change.
        lines = [line.encode() for line in new.split("\n")]
        for line, pairs in columns.items():
            for column, _ in pairs:
                self.assertRegex(lines[line - 1][column - 1 :].decode(), r"^(⊢|linnet|if !linnet|\)| \})")
        return re.sub("⊢([⊀-⊉]+)", lambda match: f"<{''.join(digits[digit] for digit in match[1])}>", new)

    def test_operators_keep_their_place(self):
        self.assertEqual(self.rewritten("a = b < c && d\n"), "a = b <1> c <2> d\n")
        self.assertEqual(self.changes("a += b - c\n"), [(1, "+= to -="), (1, "- to +")])
        self.assertEqual(self.changes("for i in a..<b {"), [(1, "..< to one less")])

    def test_what_is_no_operator_is_left_alone(self):
        for text in ("let a: Array<Int>", "func f() -> Bool", "static func == (a: A, b: A) -> Bool", "a.sorted(by: <)",
                     "a.reduce(b, +)", "-a", "extension A where B == C {", "#if A && B", "// a < b && c", 'a = "b < \\(c < d)"',
                     'a = #"b "< c"#', '"""\na < b\n"""', "/* a /* < */ b < c */"):
            self.assertEqual(self.changes(text + "\n"), [], text)

    def test_numbers_are_one_more(self):
        self.assertEqual(self.rewritten("f(5, 0x1F)\n"), "f(linnetInt(1, 5), linnetInt(2, 0x1F))\n")
        self.assertEqual(self.rewritten("a = 0xFF\n"), "a = linnetLess(1, 0xFF)\n")
        for text in ("a.0", "$0", "a1", "1.5", "case a = 1", "a.reserveCapacity(5)", "[1, 2, 3, 4, 5, 6, 7]"):
            self.assertEqual(self.changes(text + "\n"), [], text)

    def test_conditions_are_negated(self):
        self.assertEqual(
            self.rewritten("if a, let b = c, f({ d }) {\n"), "if linnetNot(1, a), let b = c, linnetNot(2, f({ d })) {\n")
        self.assertEqual(
            self.rewritten("guard a.contains { b }, !c else { return }\n"),
            "guard linnetNot(1, a.contains { b }), <2>c else { return }\n")
        self.assertEqual(self.changes("while true {\n"), [])
        self.assertEqual(self.changes("if a == b {\n"), [(1, "== to !=")])

    def test_calls_are_removed(self):
        text = "func f() {\n    a.b(c)\n    try g(\n        d)\n    h()\n    return i()\n}\n"
        self.assertEqual(self.changes(text), [(2, "removed"), (5, "removed")])
        self.assertIn("if !linnetMutant(1) { a.b(c) }", self.rewritten(text))
        # A value.
        self.assertEqual(self.changes("func f() -> A {\n    g()\n}\n"), [])
        self.assertEqual(self.changes("var a: A {\n    g()\n}\n"), [])
        self.assertEqual(self.changes("let a = b.map { c in\n    g()\n}\n"), [])
        # Parts of longer statements.
        self.assertEqual(self.changes("func f() {\n    let a =\n        g()\n    b = c\n        .d()\n}\n"), [])

    def test_changes_of_nested_places_are_all_made(self):
        self.assertEqual(
            self.rewritten("if a(1) && !b {\n"), "if linnetNot(1, a(linnetInt(2, 1)) <3> <4>b) {\n")

    def test_the_support_has_each_operator(self):
        found = mutation_rules.mutations("A.swift", "a = b < c == nil\nd += 1\n", 1)
        text = mutation_rules.support(found, 9)
        for name in ("<", "==nil", "+="):
            number = next(mutation.number for mutation, edit in found if edit.kind == name)
            self.assertIn(f"infix operator {mutation_rules.operator_name(name, number)}:", text)


if __name__ == "__main__":
    unittest.main()

"""Tests of check-references: each violates one rule in a temporary repository."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "check-references"
GUIDE = """\
# The guide

## Left out: `Expect` & more

Text.

## Same
## Same

An older heading
----------------

<a id="by-hand"></a>

```sh
# no heading
```
"""
PAGE = "Modules/A/LinnetA.docc/LinnetA.md"


class CheckReferencesTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in {"Docs/Guide.md": GUIDE, "README.md": "# Linnet\n", PAGE: "# ``LinnetA``\n",
                           "Modules/A/A.swift": "let a = 1\nlet b = 2\n", ".build/checkouts/b/README.md": "[a](none.md)\n",
                           "Docs/pictures/a b.png": ""}.items():
            self.write(name, text)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_script(self, text, name="README.md"):
        self.write(name, text)
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True)
        return done.returncode, done.stderr

    def expect_problem(self, text, words, name="README.md"):
        with self.subTest(text):
            status, said = self.run_script(text, name)
            self.assertEqual((status, len(said.splitlines())), (1, 1), said)
            self.assertIn(words, said)

    def test_links_that_lead_somewhere_pass(self):
        for text in [
            "[a](Docs/Guide.md) [b](Docs/) [c](Docs/Guide.md#the-guide) [d](README.md) ![e](Docs/pictures/a%20b.png)",
            "[a](Docs/Guide.md#left-out-expect--more) [b](Docs/Guide.md#same-1) [c](Docs/Guide.md#by-hand)",
            "[a](Docs/Guide.md#an-older-heading) [b](Modules/A/A.swift#L2) [c](Modules/A/A.swift#L1-L2)",
            "# Here\n[a](#here) [b][guide] [guide][]\n\n[guide]: <Docs/Guide.md>\n",
            "[a](https://example.com/none.md) [b](mailto:a@example.com) <https://example.com> <doc:Nothing>",
            "[a](Docs/Guide.md \"A title\") [![a](Docs/pictures/a%20b.png)](Docs/Guide.md) [`a[0]`](Docs/Guide.md)",
            "`[a](none.md)` `` ` [a](none.md) `` <!-- [a](none.md)\n[b](none.md) -->\n\n```md\n[a](none.md)\n```\n",
            "~~~\n[a](none.md)\n```\n[a](none.md)\n~~~\n<img src=\"Docs/pictures/a b.png\">\n",
        ]:
            with self.subTest(text):
                self.assertEqual(self.run_script(text), (0, ""))

    def test_links_into_nothing_fail(self):
        for text in ["[a](Docs/None.md)", "[a](Docs/guide.md)", "![a](Docs/pictures/none.png)", "[a](Guide.md)",
                     "[a\nb](Docs/None.md)", "[a](Docs/None.md \"A title\")", "[a](<Docs/None.md>)",
                     "[![a](Docs/None.md)](Docs/Guide.md)", "[![a](Docs/pictures/a%20b.png)](Docs/None.md)",
                     "<a href=\"Docs/None.md\">a</a>", "<img width=2 src='Docs/None.png'>", "[b]\n\n[b]: Docs/None.md",
                     "[a](Docs/Guide.md/more)", "[a](.build/checkouts/b/README.md)",
                     "```sh\n```\n[a](None.md)\n```sh\n```", "<!-- a --> [a](None.md) <!-- b -->"]:
            self.expect_problem(text, "which does not exist")

    def test_the_line_of_a_link_is_named(self):
        self.expect_problem("# A\n\n```\n# B\n```\n\n[a](None.md)\n", "README.md:7 links to None.md")

    def test_links_out_of_the_repository_fail(self):
        self.expect_problem("[a](../README.md)", "outside the repository")
        self.expect_problem("[a](/README.md)", "which is not relative to the document")

    def test_headings_that_are_not_there_fail(self):
        for fragment in ["left-out", "Left-out", "same-2", "no-heading", ""]:
            text = f"[a](Docs/Guide.md#{fragment})"
            if fragment:
                self.expect_problem(text, "Docs/Guide.md has no such heading")
        self.expect_problem("# Here\n[a](#there)", "README.md has no such heading")

    def test_lines_that_are_not_there_fail(self):
        for fragment in ["L3", "L0", "line-1"]:
            self.expect_problem(f"[a](Modules/A/A.swift#{fragment})", "has no such line")

    def test_a_reference_without_a_definition_fails(self):
        self.expect_problem("[a][guide]", "refers to a link that is not defined")

    def test_catalogues_are_documents(self):
        self.assertEqual(self.run_script("[a](../../../Docs/Guide.md)\n![a](picture)\n", PAGE), (0, ""))
        self.expect_problem("[a](../../Docs/Guide.md)", "which does not exist", PAGE)

    def test_a_repository_without_documents_fails(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(subprocess.run([sys.executable, SCRIPT, empty], capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()

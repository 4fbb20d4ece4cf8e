"""Tests of wrap."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "wrap"
LONG = "word " * 22 + "and more"  # 118 columns
FITS = ("word " * 22)[:-1]  # 109 columns


class WrapTests(unittest.TestCase):
    def wrap(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "A.swift"
            file.write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, *options, file], capture_output=True, text=True)
            return done.returncode, done.stdout, file.read_text()

    def expect(self, text, after):
        self.assertEqual(self.wrap(text)[2], after)
        self.assertEqual(self.wrap(after)[2], after)
        status, said, kept = self.wrap(text, "--check")
        self.assertEqual((status, kept), (int(text != after), text))
        self.assertEqual(bool(said), text != after)

    def test_a_paragraph_with_a_longer_line_is_filled(self):
        self.expect(f"/// {LONG}\n/// last.\nlet a = 1\n", f"/// {FITS} and\n/// more last.\nlet a = 1\n")
        self.expect(f"    // {LONG}\n", f"    // {FITS} and\n    // more\n")

    def test_other_lines_stay(self):
        for text in [f"/// {FITS}\n/// short\n/// lines\n", f"/// {FITS} word\n", f'let a = "{LONG} {LONG}"\n',
                     f'let a = """\n    // {LONG}\n    """\n', f"/// ```swift\n/// {LONG}\n/// ```\n",
                     f"/// | {LONG} | a |\n", f"/// # {LONG}\n", f"// swift-format-ignore: {LONG}\n", f"// Modules: A\n// Sources: {LONG}\n",
                     "/// " + "a" * 130 + "\n"]:
            with self.subTest(text):
                self.expect(text, text)

    def test_paragraphs_and_items_stay_apart(self):
        self.expect(f"/// One.\n///\n/// {LONG}\n///\n/// Two.\n", f"/// One.\n///\n/// {FITS} and\n/// more\n///\n/// Two.\n")
        self.expect(f"/// - Throws: {LONG}\n/// - Returns: b\n",
                    f"/// - Throws: {FITS[:-5]}\n///   word and more\n/// - Returns: b\n")
        self.expect(f"///   - a: {LONG}\n///     b.\n///   - c: d\n",
                    f"///   - a: {FITS}\n///     and more b.\n///   - c: d\n")

    def test_a_doc_comment_does_not_join_another_comment(self):
        self.expect(f"// {LONG}\n/// One.\n", f"// {FITS} and\n// more\n/// One.\n")

    def test_code_and_links_are_not_broken(self):
        for whole in ["`let a = b`", "``Type/member(of: a)``", "[a b c](D.md)"]:
            words = ("word " * 21)[:-1]  # 104 columns
            self.expect(f"/// {words} a {whole} last words.\n", f"/// {words} a\n/// {whole} last words.\n")

    def test_no_line_begins_as_an_item(self):
        words = ("word " * 23)[:-1]  # 114 columns
        self.expect(f"/// {words} - after\n", f"/// {words} -\n/// after\n")


if __name__ == "__main__":
    unittest.main()

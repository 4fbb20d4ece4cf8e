"""Tests of check-version, on a package of a few files."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "check-version"
FILES = {
    "Modules/Messages/LinnetVersion.swift": 'package enum LinnetVersion { package static let current = "0.2.1" }\n',
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [0.2.1] - 2026-05-04\n\n## [0.2.0] - 2026-04-03\n",
    "README.md": '```swift\n.package(url: "https://example.com/linnet.git", .upToNextMinor(from: "0.2.1"))\n```\n'
    "Version 0.2.1 needs Swift 6.2.\n",
    "Modules/A/A.swift": "/// `User-Agent: program/0 (Linux) Linnet/0.2.1`\n",
    "Examples/Tool/Tool.swift": "let configuration = CommandConfiguration(\n    version: ToolVersion.text)\n",
}


class CheckVersionTests(unittest.TestCase):
    def check(self, **changes):
        """Runs the script on the files, with the first text of each change replaced by the second one."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in FILES.items():
                for before, after in changes.get(pathlib.Path(name).stem, []):
                    self.assertIn(before, text)
                    text = text.replace(before, after)
                file = pathlib.Path(folder) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
            return done.returncode, done.stderr

    def test_one_version_passes(self):
        self.assertEqual(self.check(), (0, ""))
        self.assertEqual(self.check(CHANGELOG=[("## [Unreleased]\n\n", ""), ("2026-05-04", "unreleased")]), (0, ""))

    def test_a_source_without_a_version_is_found(self):
        for text in ["0.2", "0.2.01", "v0.2.1", ""]:
            status, errors = self.check(LinnetVersion=[('"0.2.1"', f'"{text}"')])
            self.assertEqual(status, 1)
            self.assertIn("states no version", errors)

    def test_another_version_in_the_changelog_is_found(self):
        status, errors = self.check(LinnetVersion=[("0.2.1", "0.2.2")], README=[("0.2.1", "0.2.2")], A=[("0.2.1", "0.2.2")])
        self.assertEqual(status, 1)
        self.assertIn("CHANGELOG.md:5: the section is of 0.2.1, the version is 0.2.2", errors)
        self.assertEqual(errors.count("\n"), 1)

    def test_a_section_without_a_date_is_found(self):
        for text in ["", " (2026-05-04)", " - May 2026"]:
            status, errors = self.check(CHANGELOG=[(" - 2026-05-04", text)])
            self.assertEqual(status, 1)
            self.assertIn("neither a date", errors)

    def test_unreleased_changes_are_on_top(self):
        status, errors = self.check(CHANGELOG=[("## [Unreleased]\n\n", ""), ("2026-04-03\n", "2026-04-03\n\n## [Unreleased]\n")])
        self.assertEqual(status, 1)
        self.assertIn("not the first", errors)

    def test_each_other_statement_is_found(self):
        for name, place, before, after in [
            ("README", "README.md:2", 'from: "0.2.1"', 'from: "0.2"'),
            ("README", "README.md:4", "Version 0.2.1", "Version 0.2.0"),
            ("A", "Modules/A/A.swift:1", "0.2.1", "0.2"),
        ]:
            status, errors = self.check(**{name: [(before, after)]})
            self.assertEqual(status, 1)
            self.assertIn(place, errors)
        status, errors = self.check(Tool=[("ToolVersion.text", '"0.2.1"')])
        self.assertEqual(status, 1)
        self.assertIn("Examples/Tool/Tool.swift:2: the tool states a version of its own", errors)


if __name__ == "__main__":
    unittest.main()

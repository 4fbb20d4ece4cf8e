"""Tests of check-warnings, with diagnostics that the compiler writes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "check-warnings"
GOOD = "func value() -> Int { 1 }\n"
BAD = "func value() -> Int { let unused = 2; return 1 }\n"


class CheckWarningsTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def compile(self, code, path="Modules/A/A.swift", target="A", options=()):
        source, products = self.root / path, self.root / ".build" / "debug" / f"{target}.build"
        for each in (source.parent, products):
            each.mkdir(parents=True, exist_ok=True)
        source.write_text(code)
        subprocess.run(
            ["swiftc", "-c", "-parse-as-library", "-serialize-diagnostics", *options, source], cwd=products, check=True,
            stdin=subprocess.DEVNULL, capture_output=True)
        diagnostics = (products / source.name).with_suffix(".dia")
        (products / "output-file-map.json").write_text(
            json.dumps({"": {}, str(source): {"diagnostics": str(diagnostics)}}))
        return source, diagnostics

    def run_script(self):
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_a_warning_counts_until_its_source_is_compiled_again(self):
        source, _ = self.compile(BAD)
        for _ in range(2):
            status, text = self.run_script()
            self.assertEqual(status, 1)
            self.assertIn(f"{source}: warning: ", text)
            self.assertIn("'unused'", text)
        self.compile(GOOD)
        self.assertEqual(self.run_script(), (0, ""))

    def test_a_warning_of_a_module_that_is_compiled_as_a_whole_counts(self):
        whole = ["-whole-module-optimization", "-num-threads", "2", "-module-name", "A"]
        source, _ = self.compile(BAD, options=whole)
        status, text = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn(f"{source}: warning: ", text)
        self.compile(GOOD, options=whole)
        self.assertEqual(self.run_script(), (0, ""))

    def test_sources_of_others_do_not_count(self):
        self.compile(BAD, path=".build/checkouts/other/B.swift", target="B")
        self.assertEqual(self.run_script(), (0, ""))

    def test_a_deleted_source_does_not_count(self):
        source, _ = self.compile(BAD)
        source.unlink()
        self.assertEqual(self.run_script(), (0, ""))

    def test_the_newest_diagnostics_of_a_source_count(self):
        _, former = self.compile(BAD)
        self.compile(GOOD, target="Renamed")
        os.utime(former, (0, 0))
        self.assertEqual(self.run_script(), (0, ""))


if __name__ == "__main__":
    unittest.main()

"""Tests of distributions: the rows of its table, and what it does not remove. None bootstraps a system."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "distributions"
NOTES = "compiler=Swift 6.3\nglibc=2.41\nexample=passed\nopenssl=3.5.0\n"
LOG = """\
◇ Test a() started.
✔ Test a() passed after 0.001 seconds.
◇ Test case passing 1 argument text → "
✔ Test "b passed after c" passed after 0.002 seconds.
➜ Test d() skipped: "curl is not installed"
✔ Suite S passed after 0.1 seconds.
"""
CLOSING = "✔ Test run with 3 tests in 1 suite passed after 0.1 seconds.\n"


class Rows(unittest.TestCase):
    def row(self, log, notes):
        with tempfile.TemporaryDirectory() as folder:
            system = pathlib.Path(folder) / "trixie" / "linnet"
            system.mkdir(parents=True)
            if notes is not None:
                (system / "result").write_text(notes)
                (system / "tests.log").write_text(log)
            script = 'source "$1"; base=$2 rows=(); add_row trixie 60; printf "%s\\n" "${rows[@]}"'
            return subprocess.run(
                ["bash", "-c", script, "bash", SCRIPT, folder], capture_output=True, text=True, check=True).stdout

    def test_tests_are_counted(self):
        self.assertEqual(
            self.row(LOG + CLOSING, NOTES + "tests=passed\n"),
            "| trixie | 3.5.0 | 2.41 | Swift 6.3 | passed | 2 passed, 0 failed, 1 skipped | 60 s |\n")

    def test_failures_are_counted(self):
        log = LOG + "✘ Test e() failed after 0.1 seconds with 1 issue.\n" + CLOSING.replace("3", "4").replace("passed", "failed")
        self.assertIn("| 2 passed, 1 failed, 1 skipped |", self.row(log, NOTES))

    def test_a_run_that_was_killed_did_not_end(self):
        self.assertIn("| passed | did not end |", self.row(LOG, NOTES))

    def test_a_system_without_results_failed(self):
        self.assertEqual(
            self.row("", None), "| trixie |  |  |  | FAILED | did not end | 60 s |\n")


class Removal(unittest.TestCase):
    def has_mounts(self, folder):
        script = 'source "$1"; if has_mounts "$2"; then echo yes; fi'
        return subprocess.run(
            ["bash", "-c", script, "bash", SCRIPT, folder], capture_output=True, text=True, check=True).stdout == "yes\n"

    def test_mounts_are_found(self):
        self.assertTrue(self.has_mounts("/proc"))
        with tempfile.TemporaryDirectory() as folder:
            self.assertFalse(self.has_mounts(folder))

    def test_an_unknown_system_is_refused(self):
        done = subprocess.run(["bash", SCRIPT, "sarge"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown system: sarge", done.stderr)


if __name__ == "__main__":
    unittest.main()

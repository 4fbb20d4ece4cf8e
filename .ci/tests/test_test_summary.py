"""Tests of test-summary."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "test-summary"
PASSED = "✔ Test run with 3 tests in 2 suites passed after 4.5 seconds.\n"
KNOWN = "━ Test run with 1 test in 1 suite passed after 1.250 seconds with 2 known issues.\n"
FAILED = "✘ Test run with 5 tests in 1 suite failed after 0.5 seconds with 3 issues (including 1 known issue).\n"


class SummaryTests(unittest.TestCase):
    def run_script(self, *texts):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / str(number) for number in range(len(texts))]
            for file, text in zip(files, texts):
                file.write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, *files], capture_output=True, text=True)
            return done.returncode, done.stdout.strip()

    def test_processes_that_passed_have_passed(self):
        self.assertEqual(
            self.run_script("◇ Test run started.\n" + PASSED, KNOWN),
            (0, "✔ Test run with 4 tests in 3 suites passed after 4.500 seconds."))

    def test_one_that_failed_fails_in_either_place(self):
        said = "✘ Test run with 8 tests in 3 suites failed after 4.500 seconds with 3 issues."
        self.assertEqual(self.run_script(PASSED, FAILED), (1, said))
        self.assertEqual(self.run_script(FAILED, PASSED), (1, said))

    def test_one_that_crashed_fails(self):
        said = "✘ Test run with 3 tests in 2 suites failed after 4.500 seconds with 1 issue."
        for text in ["", "error: Exited with unexpected signal code 11\n",
                     "✔ Test run with 0 tests in 0 suites passed after 0.005 seconds.\n"]:
            self.assertEqual(self.run_script(PASSED, text), (1, said))
            self.assertEqual(self.run_script(text, PASSED), (1, said))

    def test_no_logs_fail(self):
        self.assertEqual(self.run_script()[0], 1)


if __name__ == "__main__":
    unittest.main()

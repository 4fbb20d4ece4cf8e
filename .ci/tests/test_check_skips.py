"""Tests of check-skips, on lines as `swift test` prints them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "check-skips"
PASSED = "✔ Test aPlainTest() passed after 0.001 seconds.\n"


class CheckSkipsTests(unittest.TestCase):
    def check(self, log, expected=""):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("log", "expected")]
            for path, text in zip(paths, (log, expected)):
                path.write_text(text)
            done = subprocess.run(
                [sys.executable, SCRIPT, *paths], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_a_log_without_skips_passes(self):
        status, text = self.check(PASSED)
        self.assertEqual(status, 0)
        self.assertIn("1 tests ran, 0 were skipped", text)

    def test_a_skipped_test_fails_and_is_named(self):
        status, text = self.check(PASSED + '➜ Test anotherTest() skipped: "curl is not installed"\n')
        self.assertEqual(status, 1)
        self.assertIn('anotherTest() was skipped: "curl is not installed"', text)

    def test_a_skipped_suite_fails_and_is_named(self):
        status, text = self.check(PASSED + '➜ Suite NamespaceTests skipped: "needs root"\n')
        self.assertEqual(status, 1)
        self.assertIn("NamespaceTests was skipped", text)

    def test_a_display_name_is_compared_without_its_quotes(self):
        log = PASSED + '➜ Suite "Private keys in memory" skipped: "memory is the sanitizer\'s"\n'
        self.assertEqual(self.check(log)[0], 1)
        self.assertEqual(self.check(log, "Private keys in memory   # why\n")[0], 0)

    def test_an_expected_skip_passes(self):
        log = PASSED + '➜ Test anotherTest() skipped: "x"\n'
        self.assertEqual(self.check(log, "# a comment\nanotherTest()  # a reason\n")[0], 0)
        self.assertEqual(self.check(log, "# anotherTest()\n")[0], 1)

    def test_a_log_without_tests_fails(self):
        self.assertEqual(self.check("error: Exited with unexpected signal code 11\n")[0], 1)


if __name__ == "__main__":
    unittest.main()

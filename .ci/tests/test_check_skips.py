"""Tests of check-skips, on lines as `swift test` prints them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "check-skips"
PASSED = "✔ Test aPlainTest() passed after 0.001 seconds.\n"


class CheckSkipsTests(unittest.TestCase):
    def check(self, log, expected="", events=None):
        with tempfile.TemporaryDirectory() as folder:
            texts = [log, expected] + ([] if events is None else [events])
            paths = [pathlib.Path(folder) / name for name in ("log", "expected", "events")][:len(texts)]
            for path, text in zip(paths, texts):
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

    def test_a_cancelled_test_fails_and_is_named(self):
        for line, name, why in [
            ('➜ Test cancelled() was cancelled after 0.001 seconds: "no reason"', "cancelled()", '"no reason"'),
            ("➜ Test cancelled() was cancelled after 0.001 seconds.", "cancelled()", "no reason given"),
            ('➜ Test "A display name" was cancelled after 12.5 seconds: "why "quoted""', "A display name", "quoted"),
            ('➜ Suite TraitTests was cancelled after 0.001 seconds: "from a trait"', "TraitTests", "from a trait"),
        ]:
            status, text = self.check(PASSED + line + "\n")
            self.assertEqual(status, 1, line)
            self.assertIn(f"{name} was cancelled", text)
            self.assertIn(why, text)
            self.assertEqual(self.check(PASSED + line + "\n", name)[0], 0, line)

    # As `swift test` 6.3.1 writes them, shortened.
    EVENTS = "\n".join([
        '{"kind":"test","payload":{"id":"A.ATests\\/cases(_:)\\/A.swift:7:4","isParameterized":true,"kind":"function",'
        '"name":"cases(_:)"},"version":"6.3.0"}',
        '{"kind":"event","payload":{"kind":"testCaseEnded","messages":[],'
        '"testID":"A.ATests\\/cases(_:)\\/A.swift:7:4"},"version":"6.3.0"}',
        '{"kind":"event","payload":{"kind":"testCaseCancelled","messages":[],'
        '"testID":"A.ATests\\/cases(_:)\\/A.swift:7:4"},"version":"6.3.0"}',
    ]) + "\n"

    def test_a_cancelled_case_fails_although_its_test_has_passed(self):
        log = PASSED + "✔ Test cases(_:) with 3 test cases passed after 0.001 seconds.\n"
        status, text = self.check(log, events=self.EVENTS)
        self.assertEqual(status, 1)
        self.assertIn("cases(_:) was cancelled with some of its arguments", text)
        self.assertEqual(self.check(log, "cases(_:)", events=self.EVENTS)[0], 0)
        others = "\n".join(self.EVENTS.splitlines()[:2])
        self.assertEqual(self.check(log, events=others)[0], 0)

    def test_a_case_of_a_test_without_arguments_is_its_test(self):
        cancelled = ('{"kind":"test","payload":{"id":"A.ATests\\/one()\\/A.swift:4:4","isParameterized":false,'
                     '"kind":"function","name":"one()"},"version":"6.3.0"}\n'
                     '{"kind":"event","payload":{"kind":"testCaseCancelled","messages":[],'
                     '"testID":"A.ATests\\/one()\\/A.swift:4:4"},"version":"6.3.0"}\n')
        log = PASSED + "➜ Test one() was cancelled after 0.001 seconds.\n"
        self.assertEqual(self.check(log, "one()", events=cancelled)[0], 0)

    def test_an_event_ends_with_its_line_feed(self):
        events = '{"kind":"event","payload":{"kind":"testCaseEnded","messages":[{"text":"a\u2028b\u0085c"}]}}\n'
        self.assertEqual(self.check(PASSED, events=events)[0], 0)

    def test_without_events_cancelled_cases_are_not_known(self):
        self.assertEqual(self.check(PASSED, events="")[0], 1)

    def test_a_known_issue_and_a_warning_fail_unless_they_are_listed(self):
        for kind, line in [
            ("known issue", "━ Test odd() recorded a known issue at A.swift:8:56: Expectation failed: 1 == 2"),
            ("known issue", "━ Test odd() recorded a known issue with 1 argument n → 1 at A.swift:8:56: Issue recorded"),
            ("warning", "⚠︎ Test odd() recorded a warning at A.swift:11:36: Issue recorded"),
            ("warning", "⚠︎ Test odd() recorded a warning with 1 argument n → 1 at A.swift:12:68: Issue recorded"),
        ]:
            status, text = self.check(PASSED + line + "\n↳ why\n")
            self.assertEqual(status, 1, line)
            self.assertIn(f"odd() recorded a {kind}", text)
            self.assertIn("A.swift", text)
            self.assertEqual(self.check(PASSED + line + "\n", f"{kind}: odd()  # why")[0], 0, line)
            self.assertEqual(self.check(PASSED + line + "\n", "odd()")[0], 1, "a skip is no known issue")
            other = "warning" if kind == "known issue" else "known issue"
            self.assertEqual(self.check(PASSED + line + "\n", f"{other}: odd()")[0], 1, line)

    def test_the_summary_of_known_issues_is_none(self):
        log = ("━ Test known() passed after 0.001 seconds with 1 known issue.\n"
               "━ Suite ATests passed after 0.002 seconds with 3 warnings and 2 known issues.\n")
        self.assertEqual(self.check(log)[0], 0)

    def test_fewer_tests_than_the_minimum_fail(self):
        log = PASSED + "━ Test known() passed after 0.001 seconds with 1 known issue.\n"
        log += "✔ Test cases(_:) with 3 test cases passed after 0.001 seconds.\n"
        log += "✔ Test run with 3 tests in 1 suite passed after 0.002 seconds.\n"
        self.assertEqual(self.check(log, "minimum: 3\n")[0], 0)
        status, text = self.check(log, "minimum: 4  # a reason\n")
        self.assertEqual(status, 1)
        self.assertIn("only 3 tests ran, of 4", text)

    def test_a_log_without_tests_fails(self):
        self.assertEqual(self.check("error: Exited with unexpected signal code 11\n")[0], 1)


if __name__ == "__main__":
    unittest.main()

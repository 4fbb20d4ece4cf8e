"""Tests of limits."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "limits"
loader = importlib.machinery.SourceFileLoader("limits", str(SCRIPT))
limits = importlib.util.module_from_spec(importlib.util.spec_from_loader("limits", loader))
loader.exec_module(limits)

SOURCE = """
public struct AError: Error {
    public struct Code {
        public static let tooLarge = Code("tooLarge")
    }
}

public struct Options {
    /// The maximum size in bytes of a body. The default is 64 KiB. Exceeding it is ``AError/Code/tooLarge``.
    ///
    /// This is no part of the meaning.
    public var maximumSize = 64 * 1024
    /// The maximum number of requests; the default is 10, the upper limit 20. Beyond it, requests wait.
    public var maximumRequests = Self.many
    /// The longest time of a request. The default is nil: no limit. Exceeding it is `tooLarge`.
    public var timeout: Duration?
    /// Not a limit.
    public var name = ""
    static let many = 10

    /// Makes options.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - limit: The longest pause. The default is a minute and a half. Beyond it, the pause
    ///     ends.
    /// - Throws: Nothing.
    public init(_ name: String, pause limit: Duration = .seconds(90)) {}
}
"""
TEST = """
options.maximumSize = 1
#expect(error?.code == .tooLarge)
let options = Options("", pause: .zero)
options.maximumRequests = 1
options.timeout = .zero
"""


class LimitsTests(unittest.TestCase):
    def run_script(self, source, test, *arguments, page=None, excluded=()):
        """Runs the script in a repository of one source and one test. Returns its status, what it prints and the page."""
        with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
            root = pathlib.Path(name)
            files = {"Modules/A/A.swift": source, "Tests/ATests/ATests.swift": test, "Docs/Limits.md": page or ""}
            for file, text in files.items():
                (root / file).parent.mkdir(parents=True)
                (root / file).write_text(text)
            values = {"ROOT": root, "PAGE": root / "Docs" / "Limits.md", "EXCLUDED": set(excluded), "SPELLINGS": {}, "SHOWN": {}}
            for key, value in values.items():
                stack.enter_context(mock.patch.object(limits, key, value))
            stack.enter_context(mock.patch.object(sys, "argv", ["limits", *arguments]))
            said = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            status = limits.main()
            return status, said.getvalue(), (root / "Docs" / "Limits.md").read_text()

    def test_a_row_has_the_default_the_meaning_the_outcome_and_the_test(self):
        status, said, page = self.run_script(SOURCE, TEST)
        self.assertEqual((status, said), (0, ""))
        rows = [line.rsplit("|", 2)[0] for line in page.split("\n") if line.startswith("| `")]
        self.assertEqual(rows, [
            "| `Options.maximumSize` | 64 KiB | The maximum size in bytes of a body. | `tooLarge` ",
            "| `Options.maximumRequests` | 10, at most 20 | The maximum number of requests. | requests wait ",
            "| `Options.timeout` | none | The longest time of a request. | `tooLarge` ",
            "| `Options.init(pause:)` | 90 s | The longest pause. | the pause ends ",
        ])
        self.assertEqual(page.count("[ATests](../Tests/ATests/ATests.swift)"), 4)
        self.assertEqual(self.run_script(SOURCE, TEST, "--check", page=page)[:2], (0, ""))

    def test_a_page_that_differs_fails(self):
        status, said, page = self.run_script(SOURCE, TEST, "--check", page="old")
        self.assertEqual((status, page), (1, "old"))
        self.assertEqual(said, "limits: Docs/Limits.md is not what the source says: run .ci/limits\n")

    def fault(self, source, test=TEST):
        page = self.run_script(source, test)[2]
        status, said, _ = self.run_script(source, test, "--check", page=page)
        self.assertEqual((status, said.count("\n")), (1, 1), said)
        return said

    def test_a_limit_without_an_outcome_fails(self):
        source = SOURCE.replace(" Beyond it, requests wait.", "")
        self.assertIn("Options.maximumRequests of A has no outcome: write", self.fault(source))

    def test_a_limit_without_a_default_fails(self):
        source = SOURCE.replace(" = 64 * 1024", ": Int").replace(" The default is 64 KiB.", "")
        self.assertIn("Options.maximumSize of A has no default: write", self.fault(source))

    def test_a_limit_that_no_test_sets_fails(self):
        test = TEST.replace("options.maximumRequests = 1", "#expect(options.maximumRequests == 1)")
        self.assertIn("Options.maximumRequests of A has no test that sets it: add one", self.fault(SOURCE, test))

    def test_an_excluded_limit_has_no_row_and_exists(self):
        page = self.run_script(SOURCE, TEST, excluded=["Options.timeout"])[2]
        self.assertNotIn("Options.timeout", page)
        said = self.run_script(SOURCE, TEST, "--check", page=page, excluded=["Options.timeout", "Options.other"])[1]
        self.assertEqual(said, "limits: Options.other does not exist any more, or its test: change it in .ci/limits\n")


if __name__ == "__main__":
    unittest.main()

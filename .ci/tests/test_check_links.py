"""Tests of check-links, with object files that the compiler makes."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER))
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("check_links", str(FOLDER / "check-links"))
check_links = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_links", LOADER))
LOADER.exec_module(check_links)

SOURCES = {
    "Good": "import FoundationEssentials\npublic func address() -> URL? { URL(string: \"/\") }\n",
    # The symbols of the module are in the object file.
    "Uses": "import Foundation\nimport FoundationNetworking\npublic func r(_ a: URL) -> URLRequest { URLRequest(url: a) }\n",
    # Only the wish to link the library is.
    "Wishes": "import FoundationXML\n",
}


class CheckLinksTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.files = {}
        for name, text in SOURCES.items():
            source = pathlib.Path(holder.name) / f"{name}.swift"
            source.write_text(text)
            cls.files[name] = str(source.with_suffix(".o"))
            subprocess.run(
                ["swiftc", "-c", "-parse-as-library", "-module-name", name, "-o", cls.files[name], source], check=True,
                stdin=subprocess.DEVNULL)

    def problems(self, *names):
        before = check_links.build_plan.objects
        check_links.build_plan.objects = lambda _: [self.files[name] for name in names]
        try:
            return check_links.check_objects("Target")
        finally:
            check_links.build_plan.objects = before

    def test_files_without_forbidden_libraries_pass(self):
        self.assertEqual(self.problems("Good"), [])
        self.assertEqual(self.problems(), [])

    def test_the_file_that_uses_a_forbidden_library_is_named(self):
        self.assertEqual(self.problems("Uses"), ["Target: Uses.o uses FoundationNetworking"])
        self.assertEqual(self.problems("Wishes"), ["Target: Wishes.o uses FoundationXML"])
        self.assertEqual(self.problems("Good", "Uses", "Wishes"), [
            "Target: Uses.o uses FoundationNetworking", "Target: Wishes.o uses FoundationXML"])


if __name__ == "__main__":
    unittest.main()

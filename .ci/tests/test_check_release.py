"""Tests of check-release and sbom: each quick step passes on a repository of a few files, and fails after one change."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock as mock

FOLDER = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER))
LOADER = importlib.machinery.SourceFileLoader("check_release", str(FOLDER / "check-release"))
check_release = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_release", LOADER))
LOADER.exec_module(check_release)
sbom = check_release.sbom

APACHE = "Apache License\n  Version 2.0, January 2004\n"
FILES = {
    ".gitignore": ".build/\nPackage.resolved\n",
    "Modules/Messages/LinnetVersion.swift": 'package enum LinnetVersion { package static let current = "0.2.1" }\n',
    "Modules/Messages/LinnetMessages.docc/LinnetMessages.md": "# Messages\n",
    "Package.swift": "// swift-tools-version: 6.2\n",
    "CHANGELOG.md": "# Changelog\n\n## [0.2.1] - 2026-05-04\n\n- A fix.\n\n## [0.2.0] - 2026-04-03\n",
    "README.md": "# Linnet\n",
    ".spi.yml": "documentation_targets:\n  - LinnetMessages\n",
    ".ci/setup": "need_build() {\n    need libssl-dev has_library openssl\n}\nneed_make() {\n}\n",
    "Docs/API/LinnetMessages.txt": "struct Origin\nstruct MIMEType\n",
    "Docs/Benchmarks.md": "| Linnet | COMMIT |\n",
    "Examples/Docker/build.Dockerfile": "FROM swift:6.2-bookworm\nRUN apt-get install --yes libssl-dev \\\n    && true\n",
}


class Repository:
    """A repository with these files as the version 0.2.0, and a second commit."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        self.git("init", "--quiet")
        self.commit()
        self.git("tag", "0.2.0")
        self.change("Docs/Benchmarks.md", "COMMIT", self.git("rev-parse", "--short", "HEAD"))

    def git(self, *words):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
        return subprocess.run(
            ["git", *who, *words], cwd=self.root, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self):
        for name, text in FILES.items():
            if not (self.root / name).exists():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                (self.root / name).write_text(text)
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "a")

    def change(self, name, before, after, commits=True):
        file = self.root / name
        assert before in file.read_text(), name
        file.write_text(file.read_text().replace(before, after))
        if commits:
            self.commit()

    def depend(self, text, **changes):
        """Adds a dependency whose checkout has this licence."""
        checkout = self.root / ".build/checkouts/Finch"
        checkout.mkdir(parents=True)
        (checkout / "LICENSE.txt").write_text(text)
        for words in [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "a"]]:
            self.git("-C", str(checkout), *words)
        state = {"version": "1.2.3", "revision": self.git("-C", str(checkout), "rev-parse", "HEAD")} | changes
        pin = {"identity": "finch", "location": "https://example.com/birds/Finch.git", "state": state}
        (self.root / "Package.resolved").write_text(json.dumps({"pins": [pin]}))


class CheckReleaseTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository = Repository(folder.name)

    def problems(self, step):
        return list(check_release.QUICK[step](self.repository.root))

    def expect(self, step, words):
        found = self.problems(step)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_release_without_flaws_passes(self):
        self.repository.depend(APACHE)
        for step in check_release.QUICK.keys() - {"sbom"}:
            self.assertEqual(self.problems(step), [], step)

    def test_changes_and_a_tag_of_another_commit_are_found(self):
        self.repository.change("README.md", "Linnet", "Finch", commits=False)
        self.expect("tree", "README.md")
        self.repository.commit()
        self.repository.git("tag", "0.2.1", "HEAD~1")
        self.expect("tree", "never moved")

    def test_a_changelog_that_is_not_finished_is_found(self):
        self.repository.change("README.md", "# Linnet", "Version 0.2.1 is not\nreleased yet")
        self.expect("changelog", "not released yet")
        self.repository.change("README.md", "is not\nreleased yet", "is here")
        self.repository.change("CHANGELOG.md", "2026-05-04", "unreleased")
        self.expect("changelog", "no date")
        self.repository.change("CHANGELOG.md", "unreleased", "2026-05-04")
        self.repository.change("CHANGELOG.md", "- A fix.", "")
        self.expect("changelog", "is empty")
        self.repository.change("CHANGELOG.md", "0.2.1", "0.2.2")
        self.expect("changelog", "begins with 0.2.2")

    def test_figures_of_other_code_are_found(self):
        self.repository.change("README.md", "Linnet", "Finch")
        self.assertEqual(self.problems("figures"), [])
        self.repository.change("Package.swift", "6.2", "6.3")
        self.expect("figures", "has changed")
        self.repository.change("Docs/Benchmarks.md", "| Linnet | ", "| Linnet | 1234567-changed, ")
        self.assertIn("1234567-changed, which is no commit", self.problems("figures")[0])
        (self.repository.root / "Docs/Benchmarks.md").write_text("- Not measured yet: `get-1k`.\n")
        self.assertEqual(len(self.problems("figures")), 2)

    def test_a_patch_keeps_its_declarations(self):
        self.repository.change("Docs/API/LinnetMessages.txt", "struct MIMEType\n", "")
        self.expect("interface", "struct MIMEType")
        self.repository.change("Modules/Messages/LinnetVersion.swift", "0.2.1", "0.3.0")
        self.assertEqual(self.problems("interface"), [])

    def test_a_licence_that_is_unknown_or_not_allowed_is_found(self):
        self.repository.depend("All rights reserved.")
        self.expect("licences", "not recognized")
        self.assertIsNone(sbom.licence("GNU GENERAL PUBLIC LICENSE Version 3"))
        self.assertEqual(sbom.licence(APACHE), "Apache-2.0")
        self.assertEqual(sbom.licence(APACHE + "Runtime Library Exception"), "Apache-2.0 WITH Swift-exception")
        self.assertEqual(sbom.licence("Permission is hereby granted, free\nof charge, to any person obtaining a copy"), "MIT")

    def test_a_dependency_without_a_version_or_with_another_checkout_is_found(self):
        self.repository.depend(APACHE, version=None)
        self.expect("licences", "to no version")

    def test_a_checkout_of_another_revision_is_found(self):
        self.repository.depend(APACHE, revision="0" * 40)
        self.expect("licences", "its checkout is")

    def test_a_dependency_without_a_checkout_is_found(self):
        self.repository.depend(APACHE)
        (self.repository.root / ".build/checkouts/Finch").rename(self.repository.root / ".build/checkouts/Other")
        self.expect("licences", "has no checkout")

    def test_a_bill_of_materials_has_all_packages_and_their_dependents(self):
        self.repository.depend(APACHE)
        tree = {"identity": "folder", "dependencies": [{"identity": "finch", "dependencies": []}]}
        found = sbom.packages(self.repository.root)
        text = sbom.document("0.2.1", "abc", "2026-05-04T00:00:00Z", found, tree)
        self.assertEqual(list(sbom.document_problems(text)), [])
        self.assertEqual(text["packages"][1]["licenseDeclared"], "Apache-2.0")
        self.assertEqual(text["packages"][1]["externalRefs"][0]["referenceLocator"], "pkg:swift/example.com/birds/Finch@1.2.3")
        alone = sbom.document("0.2.1", "abc", "2026-05-04T00:00:00Z", found, tree | {"dependencies": []})
        self.assertEqual(len(list(sbom.document_problems(alone))), 1)
        missing = sbom.document("0.2.1", "abc", "2026-05-04T00:00:00Z", [], tree)
        self.assertEqual(len(list(sbom.document_problems(missing))), 1)

    def test_an_index_and_an_image_that_lack_something_are_found(self):
        self.repository.change(".spi.yml", "  - LinnetMessages", "  - LinnetOther")
        self.assertEqual(len(self.problems("files")), 2)
        self.repository.change(".spi.yml", "  - LinnetOther", "  - LinnetMessages")
        self.repository.change("Examples/Docker/build.Dockerfile", "swift:6.2", "swift:6.1")
        self.expect("files", "has Swift 6.1")
        self.repository.change("Examples/Docker/build.Dockerfile", "swift:6.1", "swift:6.10")
        self.repository.change("Examples/Docker/build.Dockerfile", "libssl-dev", "zlib1g-dev")
        self.expect("files", "does not install libssl-dev")

    def test_a_long_step_runs_once_for_a_commit_and_ends_the_checklist_when_it_fails(self):
        root = self.repository.root
        head = self.repository.git("rev-parse", "HEAD")
        steps = {"one": lambda: ["touch", ".build/one"], "two": lambda: ["false"], "three": lambda: ["touch", ".build/three"]}
        (root / ".build").mkdir()
        with (mock.patch.multiple(check_release, ROOT=root, OUTPUT=root / ".build/release", PASSED=root / ".build/passed.json"),
              mock.patch.dict(check_release.QUICK, clear=True), mock.patch.dict(check_release.LONG, steps, clear=True),
              mock.patch.object(check_release, "version", lambda: "0.2.1"),
              mock.patch.object(check_release, "output", lambda *words: self.repository.git(*words[1:])),
              mock.patch.object(sys, "argv", ["check-release"]), contextlib.redirect_stdout(io.StringIO())):
            self.assertEqual(check_release.main(), 1)
            self.assertEqual(json.loads((root / ".build/passed.json").read_text()), {"one": head})
            self.assertFalse((root / ".build/three").exists())
            (root / ".build/one").unlink()
            check_release.LONG["two"] = lambda: ["true"]
            self.assertEqual(check_release.main(), 0)
            self.assertFalse((root / ".build/one").exists())
            self.assertTrue((root / ".build/three").exists())


if __name__ == "__main__":
    unittest.main()

"""Tests of check-graph: each test violates one rule in a temporary package."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "check-graph"
GRAPH = """\
CSystem
Base -> HTTPTypes          # a comment
Upper -> Base, CSystem; NIOCore
Markup -> Base; FoundationXML
App -> everything
toolchain -> FoundationEssentials, Foundation, Synchronization
"""


def target(name, kind="regular", needs=(), path=None):
    dependencies = [
        {"product": [each, "package", None, None]} if each in ("HTTPTypes", "NIOCore") else {"byName": [each, None]}
        for each in needs]
    return {"name": name, "type": kind, "dependencies": dependencies, "path": path or f"Modules/{name}"}


class CheckGraphTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.graph = GRAPH
        self.sources = {
            "Modules/Base/Base.swift": "public import HTTPTypes\n\nimport FoundationEssentials\n",
            "Modules/Upper/Upper.swift": "import Base\ninternal import CSystem\nprivate import NIOCore\n",
            "Modules/Markup/Markup.swift": "import Base\nimport class FoundationXML.XMLParser\n",
            "Examples/App/App.swift": "import Foundation\nimport Upper\n",
            "Tests/BaseTests/BaseTests.swift": "@testable import Base\nimport Testing\nimport Foundation\n",
        }
        self.targets = [
            target("CSystem", kind="system"),
            target("Base", needs=["HTTPTypes"]),
            target("Upper", needs=["Base", "CSystem", "NIOCore"]),
            target("Markup", needs=["Base"]),
            target("App", kind="executable", needs=["Base", "Upper"], path="Examples/App"),
            target("BaseTests", kind="test", needs=["Base"], path="Tests/BaseTests"),
        ]

    def run_script(self):
        for name, text in dict(self.sources, **{"Docs/Architecture.md": f"# A\n\n```graph\n{self.graph}```\n"}).items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        manifest = self.root / "manifest.json"
        manifest.write_text(json.dumps({"targets": self.targets}))
        return subprocess.run(
            [sys.executable, SCRIPT, "--root", self.root, "--manifest", manifest], capture_output=True, text=True)

    def expect_problem(self, words):
        result = self.run_script()
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(words, result.stderr)

    def expect_no_problem(self):
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def add(self, file, text):
        self.sources[file] = self.sources.get(file, "") + text

    def test_a_valid_package_passes(self):
        self.expect_no_problem()

    def test_an_import_that_the_graph_does_not_allow(self):
        self.add("Modules/Base/More.swift", "import Upper\n")
        self.expect_problem("Modules/Base/More.swift:1: Base imports Upper, which the graph does not allow")

    def test_an_arrow_that_no_source_follows(self):
        self.graph = self.graph.replace("CSystem; NIOCore", "CSystem; NIOCore, NIOPosix")
        self.expect_problem("the graph has an arrow from Upper to NIOPosix, which it imports nowhere")

    def test_an_import_behind_attributes_and_access(self):
        self.add("Modules/Base/More.swift", "@preconcurrency @_spi(Some) public import struct Upper.Thing\n")
        self.expect_problem("Base imports Upper, which the graph does not allow")

    def test_an_import_that_the_manifest_does_not_declare(self):
        self.targets[2] = target("Upper", needs=["Base", "CSystem"])
        self.expect_problem("Upper imports NIOCore, which Package.swift does not declare")

    def test_an_import_of_a_test_that_the_manifest_does_not_declare(self):
        self.add("Tests/BaseTests/BaseTests.swift", "import Upper\n")
        self.expect_problem("BaseTests imports Upper, which Package.swift does not declare")

    def test_a_dependency_that_the_graph_does_not_allow(self):
        self.targets[1] = target("Base", needs=["HTTPTypes", "NIOCore"])
        self.expect_problem("Base depends on NIOCore, which the graph does not allow")

    def test_an_unused_dependency(self):
        self.sources["Modules/Upper/Upper.swift"] = "import Base\nimport NIOCore\n"
        self.expect_problem("Upper depends on CSystem, but imports it nowhere")

    def test_a_dependency_that_is_declared_twice(self):
        self.targets[1] = target("Base", needs=["HTTPTypes", "HTTPTypes"])
        self.expect_problem("Base depends on HTTPTypes twice")

    def test_networking_in_a_module_a_test_and_an_example(self):
        for file in ["Modules/Base/Base.swift", "Tests/BaseTests/BaseTests.swift", "Examples/App/App.swift"]:
            with self.subTest(file):
                before = self.sources[file]
                self.add(file, "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n")
                self.expect_problem("FoundationNetworking must not be imported")
                self.sources[file] = before

    def test_markup_outside_its_module(self):
        self.add("Modules/Upper/Upper.swift", "import FoundationXML\n")
        self.expect_problem("Upper imports FoundationXML, which the graph does not allow")

    def test_the_testing_library_needs_an_arrow_and_no_declaration(self):
        self.add("Modules/Base/More.swift", "public import Testing\n")
        self.expect_problem("Base imports Testing, which the graph does not allow")
        self.graph = self.graph.replace("Base -> HTTPTypes", "Base -> HTTPTypes, Testing")
        self.expect_no_problem()

    def test_foundation_without_a_reason(self):
        self.add("Modules/Base/More.swift", "import Foundation\n")
        self.expect_problem("Modules/Base/More.swift:1: import FoundationEssentials, or add a comment")

    def test_foundation_with_a_reason(self):
        self.add("Modules/Base/Beside.swift", "import Foundation  // for Process\n")
        self.add("Modules/Base/Above.swift", "// Process is not in FoundationEssentials.\nimport Foundation\n")
        self.expect_no_problem()

    def test_text_that_only_looks_like_an_import(self):
        self.add("Modules/Base/More.swift", (
            '/* import Upper\n/* */ import Upper\n*/\n// import Upper\nlet a = """\n\\"""\nimport Upper\n"""\n'
            'let b = #"""\n"""\nimport Upper\n"""#\nlet c = "\\""  // "\n'))
        self.expect_no_problem()

    def test_an_import_after_strings_and_comments(self):
        self.add("Modules/Base/More.swift", 'let a = "/*"\nlet b = """\n"\n"""\n/* " */\nimport Upper\n')
        self.expect_problem("Modules/Base/More.swift:6: Base imports Upper")

    def test_an_import_in_any_form(self):
        for text in [
            "import Foundation  // for Process\n; import Upper\n",
            "import FoundationEssentials; import Upper\n",
            "import FoundationEssentials;import Upper;\n",
            "import\n    Upper\n",
            "public\n    import\n\n    Upper\n",
            "@testable public import Upper\n",
            "@preconcurrency\n@_spi(\n    Some\n)\nimport Upper\n",
            "@_exported import Upper\n",
            "import struct Upper.Thing\n",
            "import struct\n    Upper.Thing\n",
            "import func Upper.perform\n",
            "import Upper.Inner\n",
            "import/* a comment */Upper\n",
            "/* a comment */ import Upper\n",
            "import /* // */ // more\n    Upper\n",
            "import `Upper`\n",
            "#if os(Windows)\nimport Upper\n#endif\n",
            "#if canImport(Upper)\n  #if DEBUG\n  #else\n    import Upper\n  #endif\n#endif\n",
            'let a = "\\(b("/*"))"\nimport Upper\n',
            'let a = #"\\"#; import Upper\n',
            'let a = """\n    \\(b(""\"\n    c\n    ""\"))\n    """\nimport Upper\n',
            'let a = #"\\(" "#\nimport Upper // "\n',
            "import Upper",
        ]:
            with self.subTest(text):
                self.sources["Modules/Base/More.swift"] = text
                self.expect_problem("Base imports Upper, which the graph does not allow")

    def test_a_forbidden_import_in_any_form(self):
        for text in ["import Base; import FoundationNetworking\n", "import\nFoundationNetworking\n",
                     "#if NEVER\nimport class FoundationNetworking.URLSession\n#endif\n"]:
            with self.subTest(text):
                self.sources["Tests/BaseTests/More.swift"] = text
                self.expect_problem("FoundationNetworking must not be imported")

    def test_a_name_that_is_no_import(self):
        self.add("Modules/Base/More.swift", (
            "let a = Mode.import\nfunc f(import Upper: Int, import other: Int) {}\nf(import: Upper, import: 1)\n"
            "let `import` = Upper.self\nlet important = Upper()\n#if canImport(Upper)\n#endif\n"
            'let b = "\\(c) import Upper; \\(d("import Upper")) "\n'))
        self.expect_no_problem()

    def test_a_comment_explains_the_import_at_which_it_stands(self):
        self.sources["Modules/Base/More.swift"] = "// for Process\n\nimport FoundationEssentials; import Foundation\n"
        self.expect_problem("Modules/Base/More.swift:3: import FoundationEssentials, or add a comment")

    def test_a_target_without_a_row(self):
        self.targets.append(target("Other"))
        self.add("Modules/Other/Other.swift", "\n")
        self.expect_problem("Other is a target, but the graph has no row for it")

    def test_a_row_without_a_target(self):
        self.graph += "Other -> Base\n"
        self.expect_problem("Other has a row in the graph, but is no target")

    def test_a_target_without_sources(self):
        del self.sources["Modules/Markup/Markup.swift"]
        self.expect_problem("Markup has no source in Modules/Markup")

    def test_a_cycle(self):
        self.graph = GRAPH.replace("Base -> HTTPTypes", "Base -> HTTPTypes, Upper")
        self.add("Modules/Base/More.swift", "import Upper\n")
        self.targets[1] = target("Base", needs=["HTTPTypes", "Upper"])
        self.expect_problem("the graph has a cycle: Base -> Upper -> Base")

    def test_an_invalid_row(self):
        self.graph += "Base and more\n"
        self.expect_problem("is invalid: Base and more")

    def test_a_document_without_a_toolchain(self):
        self.graph = "Base -> HTTPTypes\n"
        self.expect_problem("the graph has no row `toolchain")

    def test_a_document_with_two_graphs(self):
        self.graph += "```\n\n```graph\n"
        self.expect_problem("has 2 blocks that are fenced as graph; it must have one")


if __name__ == "__main__":
    unittest.main()

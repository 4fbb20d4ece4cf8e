"""Tests of check-readme: which examples it compiles, and the tables that it compares with examples and sources."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER))
LOADER = importlib.machinery.SourceFileLoader("check_readme", str(FOLDER / "check-readme"))
check_readme = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_readme", LOADER))
LOADER.exec_module(check_readme)

PAGE = """
| task | Linnet | other |
|---|--:|--:|
| GET | 2 | {} |

## 1. {}

**Linnet**

```swift
import Linnet

// A comment.
let a = 1
let b = 2
```

**other**: {}
"""
CODE = "by hand.\n\n```python\nimport x\na = 1\n```\n"


class ComparisonTests(unittest.TestCase):
    def problems(self, *values):
        return list(check_readme.comparison_problems(PAGE.format(*values)))

    def test_imports_comments_and_blank_lines_do_not_count(self):
        self.assertEqual(self.problems("1 by hand", "GET", CODE), [])

    def test_a_wrong_count_is_a_problem(self):
        self.assertEqual(len(self.problems("12", "GET", CODE)), 1)

    def test_a_library_without_code_is_not_available(self):
        self.assertEqual(self.problems("not available", "GET", "not available."), [])
        self.assertEqual(len(self.problems("3", "GET", "not available.")), 1)

    def test_a_task_without_a_row_is_a_problem(self):
        self.assertEqual(len(self.problems("1", "POST", CODE)), 1)


class ExampleTests(unittest.TestCase):
    def problems(self, block, note=""):
        text = "# A\n\n" + (f"<!-- {note} -->\n" if note else "") + f"```swift\n{block}\n```\n"
        found = [("README.md", example) for example in check_readme.examples(text)]
        self.assertEqual(len(found), 1)
        return list(check_readme.example_problems(found, []))

    def expect(self, words, block, note=""):
        found = self.problems(block, note)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_an_example_with_an_import_is_compiled(self):
        self.assertEqual(self.problems("import Synchronization\nlet a = Mutex(1)\na.withLock { $0 = 2 }"), [])
        self.expect("cannot find 'b' in scope", "import Synchronization\nprint(b)")
        self.expect("cannot find 'b' in scope", "@preconcurrency import Synchronization\nprint(b)")

    def test_a_warning_is_a_problem(self):
        self.expect("never used", "import Synchronization\nfunc f() { let a = 1 }")

    def test_an_example_is_compiled_with_what_is_given(self):
        given = "\n".join(["compiled with", "import Synchronization", "let a: Int", "var b: [String]", "func c(_ d: Int) -> Bool",
                           "let e: Int", "struct F { var g = 1 }"])
        block = "let h = Mutex(a)\nb.append(\"x\")\nif c(a) { h.withLock { $0 += e + F().g } }"
        self.assertEqual(self.problems(block, given), [])
        self.expect("no member 'j'", block + "\nF().j()", given)
        self.expect("cannot assign to value: 'a' is a get-only", block + "\na = 2", given)
        self.expect("cannot find type 'Nothing'", block, given + "\nlet j: Nothing")
        self.expect("cannot find 'Mutex' in scope", block, given.replace("import Synchronization\n", ""))

    def test_an_example_may_have_a_main_type(self):
        block = "@main\nstruct A {\n    static func main() { print(b) }\n}"
        self.assertEqual(self.problems(block, "compiled with\nlet b: Int"), [])
        self.expect("cannot find 'b' in scope", block, "compiled with\nlet c: Int")

    def test_an_example_without_an_import_says_how_it_is_compiled(self):
        for note in ["", "a comment", "compiled with", "compiled with\n"]:
            found = self.problems("let a = 1", note)
            self.assertIn("README.md:4" if not note else "README.md:", found[0])
            self.assertIn("this example has no import", found[0])
        for note in ["not compiled: it is long", "compiled within\nimport A", "compiled within\nimport A\n… …"]:
            self.assertIn("this example has no import", self.problems("let a = 1", note)[0])

    def test_an_example_is_compiled_within_what_surrounds_it(self):
        note = "compiled within\nimport Synchronization\nlet a = [\n…\n]\nprint(a.count)"
        self.assertEqual(self.problems("Mutex(1).withLock { $0 },\n2", note), [])
        self.expect("cannot find 'b' in scope", "b,\n2", note)

    def test_only_examples_of_other_libraries_are_not_compiled(self):
        text = "<!-- other library: Alamofire -->\n\n```swift\nlet a = b\n```\n"
        examples = list(check_readme.examples(text))
        self.assertEqual([(each.line, each.library) for each in examples], [(4, "Alamofire")])
        self.assertEqual(list(check_readme.example_problems([("A.md", examples[0])], [])), ["README.md has no example"])
        for note in ["other library:", "other library: Anything"]:
            self.assertIn("only examples of", self.problems("let a = b", note)[0])
        self.assertIn("imports a module", self.problems("import Linnet", "other library: Alamofire")[0])

    def test_a_block_in_a_list_is_an_example(self):
        text = "- one\n\n  ```swift\n  import Synchronization\n  print(b)\n  ```\n- two\n"
        found = [("README.md", example) for example in check_readme.examples(text)]
        self.assertEqual([each.code for _, each in found], ["import Synchronization\nprint(b)\n"])
        self.assertEqual(len(list(check_readme.example_problems(found, []))), 1)

    def test_a_comment_is_of_the_block_after_it_alone(self):
        text = "<!-- other library: Alamofire -->\n```sh\nls\n```\n\n```swift\nlet a = b\n```\n"
        self.assertEqual([each.library for each in check_readme.examples(text)], [None])


class ModuleTests(unittest.TestCase):
    GRAPH = "LinnetA -> HTTPTypes\nLinnetB  -> LinnetA; NIOCore   # LinnetC\nLinnetC -> LinnetA\nLinnet -> LinnetB\n"
    TABLE = "| `Linnet` | all | B |\n| `LinnetA` | values | |\n| `LinnetB`, `LinnetC` | more | A |\n"

    def problems(self, before="", after=""):
        return list(check_readme.module_problems(self.TABLE.replace(before, after), self.GRAPH))

    def test_a_table_with_the_arrows_of_the_graph_passes(self):
        self.assertEqual(self.problems(), [])

    def test_a_row_that_differs_or_is_missing_is_found(self):
        self.assertEqual(self.problems("all | B", "all | A"), ["the table says A for Linnet, and the graph B"])
        self.assertEqual(self.problems("values | |", "values | C |"), ["the table says C for LinnetA, and the graph nothing"])
        self.assertEqual(self.problems(", `LinnetC`"), ["the table says no row for LinnetC, and the graph A"])


class MigrationTests(unittest.TestCase):
    def test_names_that_the_sources_lack_are_found_in_the_second_column_alone(self):
        row = "| `oldName:` | `newName(for:)`, `goneName` | `thirdName` |"
        names = list(check_readme.unknown_names(row, {"newName"}))
        self.assertEqual(names, ["goneName"])


if __name__ == "__main__":
    unittest.main()

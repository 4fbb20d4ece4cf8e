"""Tests of the tables that check-readme compares with examples and sources."""

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


class MigrationTests(unittest.TestCase):
    def test_names_that_the_sources_lack_are_found_in_the_second_column_alone(self):
        row = "| `oldName:` | `newName(for:)`, `goneName` | `thirdName` |"
        names = list(check_readme.unknown_names(row, {"newName"}))
        self.assertEqual(names, ["goneName"])


if __name__ == "__main__":
    unittest.main()

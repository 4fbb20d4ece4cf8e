"""Tests of check-site: the links of the site, and the links that lead nowhere."""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER))
LOADER = importlib.machinery.SourceFileLoader("check_site", str(FOLDER / "check-site"))
check_site = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_site", LOADER))
LOADER.exec_module(check_site)

NAMES = {"Docs/Recipes.md": "Recipes", "Docs/Security.md": "Security", "SECURITY.md": "Reporting", "README.md": "Guides"}
README = """# Finch

A library ([Recipes](Docs/Recipes.md)).

## An example

Text.

## Modules

| `LinnetJSON` | JSON |

```
graph
```

## Documents

| tasks | [Security](Docs/Security.md) |
"""


class CheckSiteTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        heading = {"type": "heading", "text": "A policy file, in code", "anchor": "A-policy-file"}
        self.write("guides/recipes", {"content": [heading]})
        self.site = check_site.Site(NAMES, self.folder)

    def write(self, page, content):
        file = self.folder / "data" / "documentation" / f"{page}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))

    def text(self, document, text):
        return self.site.text(document, text)

    def test_links_between_documents_are_links_of_the_site(self):
        self.assertEqual(self.text("Docs/Security.md", "[a](Recipes.md)"), "[a](doc:Recipes)")
        self.assertEqual(self.text("Docs/Security.md", "[a](../SECURITY.md)"), "[a](doc:Reporting)")
        self.assertEqual(self.text("README.md", "[a](Docs/Recipes.md#a-policy-file-in-code)"), "[a](doc:Recipes#A-policy-file)")
        self.assertEqual(self.text("Docs/Recipes.md", "[a](#a-policy-file-in-code)"), "[a](doc:Recipes#A-policy-file)")

    def test_links_to_articles_of_modules_are_places(self):
        link = "../Modules/Security/LinnetSecurity.docc"
        self.assertEqual(self.text("Docs/HTTP.md", f"[a]({link}/LinnetSecurity.md)"), "[a](/documentation/linnetsecurity)")
        self.assertEqual(
            self.text("Docs/HTTP.md", f"[a]({link}/PinningSafely.md)"), "[a](/documentation/linnetsecurity/pinningsafely)")

    def test_links_to_other_files_are_their_text(self):
        self.assertEqual(self.text("Docs/HTTP.md", "see [a](../Examples/A.swift)."), "see a.")
        self.assertEqual(self.text("Docs/HTTP.md", "[a](https://example.com/)"), "[a](https://example.com/)")

    def test_code_and_comments_stay(self):
        for text in ["```swift\nf([a](Recipes.md))\n```", "`[a](Recipes.md)`", "<!-- [a](Recipes.md) -->"]:
            self.assertEqual(self.text("Docs/HTTP.md", text), text)

    def test_pictures_are_copied_and_have_their_names(self):
        self.assertEqual(self.text("Docs/HTTP.md", "![a](pictures/a.png)"), "![a](a.png)")
        self.assertEqual({file.name for file in self.site.pictures}, {"a.png"})

    def test_the_start_page_lists_the_guides_in_the_order_of_the_table(self):
        page = self.site.start(self.text("README.md", README))
        self.assertIn("A library ([Recipes](doc:Recipes)).", page)
        self.assertIn("[`LinnetJSON`](/documentation/linnetjson)", page)
        self.assertNotIn("graph", page)
        self.assertLess(page.index("<doc:Security>"), page.index("<doc:Recipes>"))

    def test_links_that_lead_nowhere_are_found(self):
        links = {name: {"type": "link", "url": url}
                 for name, url in [("a", "/documentation/guides/recipes#x"), ("b", "https://example.com")]}
        self.write("guides", {"references": links})
        self.assertEqual(list(check_site.broken(self.folder)), [])
        links |= {"c": {"type": "link", "url": "/documentation/linnetfinch"}, "d": {"type": "link", "url": "Other.md"}}
        self.write("guides", {"references": links})
        self.assertEqual(len(list(check_site.broken(self.folder))), 2)


if __name__ == "__main__":
    unittest.main()

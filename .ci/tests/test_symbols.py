"""Tests of what is read from symbol graphs: api, and the comments that check-docs requires."""

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

import symbols  # noqa: E402


def script(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(FOLDER / name))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(made)
    return made


api, check_docs = script("api"), script("check-docs")

SOURCE = """\
/// A colour.
public struct Colour: Hashable, Sendable {
    /// The shades.
    public enum Shade: Sendable {
        /// Light.
        case light
        case dark(by: Int)
        ///
        case none
    }
    /// The shade.
    public var shade: Shade
    /// Makes one.
    public init(shade: Shade = .light) { self.shade = shade }
    /// One of them.
    public subscript(index: Int) -> Int { index }
    func hidden() {}
    package func ours() {}
    public static func == (a: Colour, b: Colour) -> Bool { true }
    /// Hashes.
    public func hash(into hasher: inout Hasher) {}
}

/// Paints.
public protocol Painter: Sendable {
    /// The name.
    var name: String { get }
    func paint(_ colour: Colour) async throws
}

extension Painter {
    /// The name by default.
    public var name: String { "painter" }
}

extension Array where Element == Colour {
    /// All that are dark.
    public var dark: [Colour] { [] }
}

extension Bool: @retroactive Identifiable {
    /// The value itself.
    public var id: Bool { self }
}

/// Paints.
@discardableResult @MainActor public func paint<Colours: Sequence>(
    _ all: Colours,
    with painter: any Painter
) -> Int where Colours.Element == Colour { 1 }
"""
PAGE = """\
// The public interface of Paint. `make api` writes this file.
@_exported import Other

var Array.dark: [Colour] { get } where Element == Colour

extension Bool: Identifiable
var Bool.id: Bool { get }

struct Colour: Equatable, Hashable, Sendable
static func Colour.== (a: Colour, b: Colour) -> Bool
enum Colour.Shade: Sendable
case Colour.Shade.dark(by: Int)
case Colour.Shade.light
case Colour.Shade.none
func Colour.hash(into hasher: inout Hasher)
Colour.init(shade: Colour.Shade = .light)
var Colour.shade: Colour.Shade
Colour.subscript(index: Int) -> Int { get }

protocol Painter: Sendable
var Painter.name: String { get }
var Painter.name: String { get }  // a requirement with a default
func Painter.paint(_ colour: Colour) async throws  // a requirement

@discardableResult @MainActor func paint<Colours>(_ all: Colours, with painter: any Painter) -> Int where \
Colours: Sequence, Colours.Element == Colour
"""


class SymbolTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        (cls.folder / "Source").mkdir()
        (cls.folder / "Source" / "Paint.swift").write_text(SOURCE)
        (cls.folder / "Source" / "Exports.swift").write_text("@_exported public import Other\npublic import More\n")
        subprocess.run(
            ["swiftc", "-emit-module", "-module-name", "Paint", "-package-name", "test", "-swift-version", "6",
             "-parse-as-library", "-o", cls.folder / "Paint.swiftmodule", cls.folder / "Source" / "Paint.swift"],
            check=True, stdin=subprocess.DEVNULL)
        target = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
        triple = target.split('"triple": "')[1].split('"')[0]
        cls.arguments = {"Paint": ["swiftc", "-I", str(cls.folder), "-target", triple]}
        (cls.folder / "symbols").mkdir()
        symbols.extract("Paint", cls.arguments, cls.folder / "symbols")
        cls.graphs = symbols.graphs(cls.folder / "symbols")

    def test_the_interface_has_a_line_for_each_public_declaration(self):
        self.maxDiff = None
        self.assertEqual(api.page("Paint", self.graphs, api.exports(self.folder / "Source")), PAGE)

    def test_a_symbol_without_a_comment_is_found_wherever_it_is(self):
        found = [line.rpartition("/")[2] for line in check_docs.undocumented(self.graphs)]
        self.assertEqual(sorted(found), [
            "Paint.swift:19: Colour.==(_:_:) has no documentation",
            "Paint.swift:28: Painter.paint(_:) has no documentation",
            "Paint.swift:7: Colour.Shade.dark(by:) has no documentation",
            "Paint.swift:9: Colour.Shade.none has no documentation",
        ])

    def test_a_module_that_was_not_built_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "Other was not built"):
            symbols.extract("Other", self.arguments, self.folder)
        with self.assertRaisesRegex(RuntimeError, "could not be extracted"):
            symbols.extract("Other", {"Other": self.arguments["Paint"]}, self.folder)

    def differences(self, pages, is_whole=True):
        documents = self.folder / "API"
        documents.mkdir(exist_ok=True)
        (documents / "Paint.txt").write_text(PAGE)
        return list(api.differences(pages, documents, is_whole))

    def test_an_interface_that_is_as_written_has_no_differences(self):
        self.assertEqual(self.differences({"Paint.txt": PAGE}), [])

    def test_a_changed_an_added_and_a_removed_interface_differ(self):
        changed = self.differences({"Paint.txt": PAGE.replace("shade: Colour.Shade = .light", "shade: Colour.Shade")})
        self.assertIn("-Colour.init(shade: Colour.Shade = .light)", changed)
        self.assertIn("+Colour.init(shade: Colour.Shade)", changed)
        added = self.differences({"Paint.txt": PAGE, "Brush.txt": "struct Brush\n"})
        self.assertEqual(added[-1], "+struct Brush")
        self.assertIn("-struct Colour: Equatable, Hashable, Sendable", self.differences({}))
        self.assertEqual(self.differences({}, is_whole=False), [])


if __name__ == "__main__":
    unittest.main()

import ExampleSupport
import FoundationEssentials
import Testing

@testable import LinnetRequestCommand

/// The text of bodies and progress on a terminal.
@Suite(.timeLimit(.minutes(1)))
struct LayoutTests {
    @Test func jsonIsIndentedAndOtherwiseUnchanged() {
        let json = #"{"a":1.50,"b":[],"c":{},"d":[true,null,"x, \"y\": {"],"a":1e400}"#
        let text = """
            {
                "a": 1.50,
                "b": [],
                "c": {},
                "d": [
                    true,
                    null,
                    "x, \\"y\\": {"
                ],
                "a": 1e400
            }
            """
        #expect(JSONLayout.text(Data(json.utf8), .off) == text)
        #expect(JSONLayout.text(Data(text.utf8), .off) == text)
        #expect(JSONLayout.text(Data(" 7 ".utf8), .off) == "7")
        #expect(JSONLayout.text(Data("{".utf8), .off) == nil)
    }

    @Test func jsonIsColored() {
        let text = JSONLayout.text(Data(#"{"a":["b",1,null]}"#.utf8), Colors(areOn: true)) ?? ""
        for part in ["\u{1B}[36m\"a\"\u{1B}[0m", "\u{1B}[32m\"b\"\u{1B}[0m", "\u{1B}[33m1\u{1B}[0m", "\u{1B}[35mnull"] {
            #expect(text.contains(part), "\(text.debugDescription)")
        }
    }

    @Test func stringsOfJSONCannotControlTheTerminal() {
        #expect(JSONLayout.text(Data("\"\u{9B}31m\u{202E}\u{7F}\"".utf8), .off) == #""\u009b31m\u202e\u007f""#)
    }

    @Test func xmlIsIndented() {
        let xml = """
            <?xml version="1.0"?><a x="1 > 0"><b>text</b> <c/><!-- <no> --><d>mixed <e>f</e></d><g></g></a>
            """
        #expect(
            XMLLayout.text(xml, .off) == """
                <?xml version="1.0"?>
                <a x="1 > 0">
                    <b>text</b>
                    <c/>
                    <!-- <no> -->
                    <d>mixed
                        <e>f</e>
                    </d>
                    <g></g>
                </a>
                """)
        #expect(XMLLayout.text("<a><b></a>", .off) == nil)
        #expect(XMLLayout.text("</a><a>", .off) == nil)
        #expect(XMLLayout.text("<a", .off) == nil)
        #expect(XMLLayout.text("<a>\u{1B}[31m</a>", .off) == "<a>\u{241B}[31m</a>")
    }

    @Test func textCannotControlTheTerminal() {
        #expect(
            TerminalText.text("a\tb\nc\r\nd\re\u{1B}]0;x\u{7}\u{9B}1m\u{7F}\u{202E}\u{2028}")
                == "a\tb\nc\nd\u{240D}e\u{241B}]0;x\u{2407}\\u{9b}1m\u{2421}\\u{202e}\\u{2028}")
    }

    /// A character can end in the next piece.
    @Test func textIsTheSameInPieces() {
        let bytes = Data("aé€😀\u{9B}z".utf8) + [0xFF, 0xE2, 0x82]
        let whole = TerminalText.text(String(decoding: bytes, as: UTF8.self))
        for size in 1...bytes.count {
            var text = TerminalText()
            var result = ""
            for start in stride(from: 0, to: bytes.count, by: size) {
                result += text.text(bytes.subdata(in: start..<min(bytes.count, start + size)))
            }
            #expect(result + text.end() == whole, "\(size)")
        }
    }

    private func printed(_ pieces: [String], type: String?, isTerminal: Bool) throws -> String {
        var output = Data()
        var printer = BodyPrinter(contentType: type, isTerminal: isTerminal, colors: .off) { output += $0 }
        for piece in pieces { try printer.write(Data(piece.utf8)) }
        try printer.end()
        return String(decoding: output, as: UTF8.self)
    }

    @Test(arguments: [
        (["{\"a\":", "1}"], true, "{\"a\":1}\n"), (["a\n", "b"], true, "a\nb\n"), (["a", "\n"], true, "a\n"),
        (["a", ""], true, "a\n"), ([], true, ""), (["a"], false, "a"),
    ])
    func aBodyEndsWithALineBreakInATerminalOnly(pieces: [String], isTerminal: Bool, text: String) throws {
        #expect(try printed(pieces, type: nil, isTerminal: isTerminal) == text)
    }

    @Test func aPipeGetsTheBytes() throws {
        for text in [#"{"a":1}"#, "\u{1B}[31m", "a\u{0}b", ""] {
            #expect(try printed([text], type: "application/json", isTerminal: false) == text)
        }
    }

    @Test(
        arguments: [
            ([#"{"a""#, ":1}"], "application/problem+json; charset=utf-8", "{\n    \"a\": 1\n}\n"),
            (["{\"a\u{1B}"], "application/json", "{\"a\u{241B}\n"), (["<a>", "</a>"], "image/svg+xml", "<a></a>\n"),
            (["<p>", "<br>"], "text/html", "<p><br>\n"), (["x\n"], nil, "x\n"), ([], "application/json", ""),
            (["a\u{0}b", "c"], nil, "(The body is binary. Store it with -o FILE, or pipe it.)\n"),
        ] as [([String], String?, String)])
    func aTerminalGetsReadableText(pieces: [String], type: String?, text: String) throws {
        #expect(try printed(pieces, type: type, isTerminal: true) == text)
    }

    /// A body that is too long to be indented is still shown, and still harmless.
    @Test func aLongBodyIsNotHeld() throws {
        let pieces = Array(repeating: "[\"\u{1B}\", \(String(repeating: "x", count: 1 << 20))", count: 5)
        let text = try printed(pieces, type: "application/json", isTerminal: true)
        #expect(text.hasPrefix("[\"\u{241B}\"") && text.utf8.count > 5 << 20 && !text.contains("\u{1B}"))
    }

    @Test func theBarAppearsAfterHalfASecond() {
        let start = ContinuousClock.now
        var bar = ProgressBar(start: start)
        #expect(bar.draw(10, of: 100, at: start + .milliseconds(499)) == nil && !bar.isShown)
        let line = bar.draw(50_000, of: 100_000, at: start + .seconds(1))
        #expect(line == "\r\u{1B}[K[###############...............] 50 %, 50.0 kB of 100.0 kB, 50.0 kB/s, 1 s left")
        #expect(bar.draw(60_000, of: 100_000, at: start + .milliseconds(1099)) == nil && bar.isShown)
        #expect(bar.draw(60_000, of: nil, at: start + .seconds(2)) == "\r\u{1B}[K60.0 kB, 30.0 kB/s")
        #expect(bar.draw(200, of: 100, at: start + .seconds(4))?.contains("] 100 %") == true)
    }
}

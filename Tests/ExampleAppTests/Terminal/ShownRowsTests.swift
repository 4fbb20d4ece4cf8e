import CommandSupport
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct ShownRowsTests {
    @Test func equalRowsWriteNothingAndAChangedRowIsWrittenAlone() {
        var shown = ShownRows()
        #expect(shown.sequences(for: ["a", "b"]).contains("\u{1B}[2J"))
        #expect(shown.sequences(for: ["a", "b"]).isEmpty)
        #expect(shown.sequences(for: ["a", "c"]) == "\u{1B}[?2026h\u{1B}[2;1H\u{1B}[2Kc\u{1B}[?2026l")
        #expect(shown.sequences(for: ["a"]).contains("\u{1B}[2J"))
        shown = ShownRows()
        #expect(shown.sequences(for: ["a"]).contains("\u{1B}[2J"))
    }

    @Test func theTerminalShowsTheRowsAfterTheirSequences() {
        var random = SplitMix(seed: RandomSeed.next())
        let words = ["a", "bc", "日本", "👩‍🚀", "e\u{301}x", " ", "─", "🇯🇵z"]
        let size = TerminalSize(width: 17, height: 5)
        var (shown, terminal) = (ShownRows(), TestTerminal(size))
        var rows = Array(repeating: "", count: size.height)
        for _ in 0..<300 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let row = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    words.randomElement(using: &random) ?? "a"
                }
                rows[Int.random(in: 0..<size.height, using: &random)] =
                    row.map { TextStyle(environment: [:]).text($0, color: TextStyle.accent) }.joined()
            }
            terminal.write(shown.sequences(for: rows))
            let plain = rows.map { row in
                var line = row.replacing(/\u{1B}\[[0-9;]*m/, with: "")
                while line.last == " " { line.removeLast() }
                return line
            }
            #expect(terminal.text == plain.joined(separator: "\n"))
        }
        #expect(!terminal.isConfused)
    }
}

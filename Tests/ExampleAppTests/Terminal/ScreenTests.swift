import CommandSupport
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct ScreenTests {
    @Test(arguments: [
        (120, 40, 120, 40), (0, 0, 80, 24), (120, 0, 80, 24), (0, 40, 80, 24), (65_535, 1, 1_000, 1),
        (65_535, 65_535, 1_000, 1_000),
    ])
    func theSizeThatATerminalStatesIsLimited(columns: Int, rows: Int, width: Int, height: Int) {
        let size = TerminalSize(columns: UInt16(columns), rows: UInt16(rows))
        #expect(size == TerminalSize(width: width, height: height))
    }

    @Test func textIsCutAtTheEdgeAndNoWideCharacterIsHalved() {
        var frame = ScreenBuffer(size: TerminalSize(width: 5, height: 2))
        frame.write("ab日本", x: 0, y: 0)
        frame.write("日本語", x: 0, y: 1)
        #expect(frame.text == "ab日\n日本")
    }

    @Test func overwritingHalfOfAWideCharacterRemovesTheOtherHalf() {
        var frame = ScreenBuffer(size: TerminalSize(width: 6, height: 1))
        frame.write("日本語", x: 0, y: 0)
        frame.write("x", x: 1, y: 0)
        frame.write("y", x: 4, y: 0)
        #expect(frame.text == " x本y")
        #expect(frame[0, 0].text == " ")
    }

    @Test func writingOutsideOfTheScreenHasNoEffect() {
        var frame = ScreenBuffer(size: TerminalSize(width: 3, height: 1))
        frame.write("abc", x: 0, y: 1)
        frame.write("abc", x: 3, y: 0)
        frame.fill(x: -2..<9, y: -1..<4, with: "x")
        #expect(frame.text == "xxx")
    }

    @Test func anEqualFrameWritesNothingAndAChangedCellAlone() {
        var writer = ScreenWriter(depth: .trueColor)
        var frame = ScreenBuffer(size: TerminalSize(width: 10, height: 3))
        frame.write("hello", x: 0, y: 1)
        #expect(writer.sequences(for: frame).contains("\u{1B}[2J"))
        #expect(writer.sequences(for: frame).isEmpty)
        frame.write("L", x: 3, y: 1)
        let change = writer.sequences(for: frame)
        #expect(change == "\u{1B}[?2026h\u{1B}[2;4H\u{1B}[0mL\u{1B}[0m\u{1B}[?2026l")
        writer.invalidate()
        #expect(writer.sequences(for: frame).contains("\u{1B}[2J"))
    }

    @Test func theTerminalShowsEachFrameAfterItsSequences() {
        var random = SplitMix(seed: RandomSeed.next())
        let words = ["a", "bc", "日本", "👩‍🚀", "e\u{301}x", " ", "─", "🇯🇵z"]
        let size = TerminalSize(width: 17, height: 5)
        var writer = ScreenWriter(depth: .palette256)
        var terminal = TestTerminal(size)
        var frame = ScreenBuffer(size: size)
        for _ in 0..<300 {
            if Int.random(in: 0..<20, using: &random) == 0 { frame = ScreenBuffer(size: size) }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let style = Style(foreground: Bool.random(using: &random) ? Color(255, 0, 0) : nil)
                frame.write(
                    words.randomElement(using: &random) ?? "a", x: Int.random(in: 0..<17, using: &random),
                    y: Int.random(in: 0..<5, using: &random), style: style)
            }
            terminal.write(writer.sequences(for: frame))
            #expect(terminal.text == frame.text)
        }
        #expect(!terminal.isConfused)
    }
}

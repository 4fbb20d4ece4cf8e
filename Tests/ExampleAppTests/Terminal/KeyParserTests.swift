import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct KeyParserTests {
    private static let sequences: [(String, [Key])] = [
        ("j", [.character("j")]), ("jk", [.character("j"), .character("k")]), ("é", [.character("é")]),
        ("日🐦", [.character("日"), .character("🐦")]), ("\u{7F}j", [.character("j")]),
        ("\u{03}", [.control("c")]), ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]), ("\u{1B}[1;5B", [.down]),
        ("\u{1B}[Dj", [.character("j")]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
        ("\u{1B}[H\u{1B}[4~", [.home, .end]),
        ("\u{1B}[1;2Aq", [.up, .character("q")]), ("\u{1B}[99~j", [.character("j")]), ("\u{1B}xj", [.character("j")]),
        ("\u{1B}[?62;4cj", [.answer("[?62;4c"), .character("j")]),
        ("\u{1B}_Gi=31;OK\u{1B}\\j", [.answer("_Gi=31;OK"), .character("j")]),
        ("\u{1B}]11;rgb:0/0/0\u{07}j", [.answer("]11;rgb:0/0/0"), .character("j")]),
        ("\u{1B}[1\u{03}", [.control("c")]),
    ]

    @Test func aSequenceIsParsedInAnyPieces() {
        for (text, keys) in Self.sequences {
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                var parser = KeyParser()
                let parsed = parser.keys(bytes[..<cut]) + parser.keys(bytes[cut...])
                #expect(parsed == keys, "\(text.debugDescription) cut at \(cut)")
                #expect(!parser.isWaiting)
            }
        }
    }

    @Test func aLoneEscapeIsAKeyOnceTheWaitEnds() {
        var parser = KeyParser()
        #expect(parser.keys([0x1B]).isEmpty)
        #expect(parser.isWaiting)
        #expect(parser.finish() == [.escape])
        #expect(!parser.isWaiting)
        #expect(parser.keys([0x1B, 0x5B]).isEmpty)
        #expect(parser.finish().isEmpty)
        #expect(parser.keys([0x1B, 0x1B, 0x5B, 0x41]) == [.escape, .up])
    }

    @Test func invalidBytesAreIgnored() {
        var parser = KeyParser()
        #expect(parser.keys([0xFF, 0xC3, 0x28, 0x80, 0x6A]) == [.character("("), .character("j")])
    }

    @Test func anEndlessSequenceIsDiscarded() {
        var parser = KeyParser()
        #expect(parser.keys([0x1B, 0x5F]).isEmpty)
        for _ in 0..<100 {
            #expect(parser.keys([UInt8](repeating: 0x41, count: 100)).allSatisfy { $0 == .character("A") })
        }
        _ = parser.finish()
        #expect(parser.keys([0x6A]) == [.character("j")])
    }
}

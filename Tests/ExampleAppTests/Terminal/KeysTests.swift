import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct KeysTests {
    @Test(arguments: [
        ("j", ["j"]), ("jk", ["j", "k"]), ("é日🐦", ["é", "日", "🐦"]), ("\u{1B}", ["escape"]), ("\u{1B}[A", ["up"]),
        ("\u{1B}OB", ["down"]), ("\u{1B}[5~\u{1B}[6~q", ["page up", "page down", "q"]),
        ("\u{1B}[H\u{1B}[4~", ["home", "end"]), ("\u{1B}\u{1B}[A", ["escape", "up"]), ("", []),
    ])
    func keysHaveNames(text: String, keys: [String]) {
        #expect(Keys.names(in: text) == keys)
    }

    @Test(arguments: ["\u{1B}[Dj", "\u{1B}[99~j", "\u{1B}[1;5Bj", "\u{1B}[?62;4cj", "\rj"])
    func sequencesWithoutANameAreOmitted(text: String) {
        #expect(Keys.names(in: text) == ["j"])
    }

    /// Over a slow connection, a sequence can arrive in pieces.
    @Test(arguments: ["\u{1B}[A", "\u{1B}[6~", "\u{1B}OB", "\u{1B}[1;5B"])
    func thePiecesOfASequenceHaveNoEffectButThatOfEscape(sequence: String) {
        for cut in 1..<sequence.count {
            var view = TimelineView(size: TerminalSize(width: 80, height: 24))
            let posts = SampleState.loaded().posts
            let pieces = [String(sequence.prefix(cut)), String(sequence.dropFirst(cut))]
            for key in pieces.flatMap(Keys.names) {
                view.press(key, posts: posts, page: 0..<5)
                #expect(!TimelineCommand.allCases.contains { $0.key == key } && key != "q")
            }
            #expect(view.selected(in: posts) == 0 && view.panel == nil)
        }
    }
}

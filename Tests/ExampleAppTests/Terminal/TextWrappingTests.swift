import CommandSupport
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct TextWrappingTests {
    @Test(arguments: [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 3, ["one", "two", "thr", "ee"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("日本語です", 5, ["日本", "語で", "す"]),
        ("ab日本cd", 4, ["ab日", "本cd"]),
        ("👩‍🚀👩‍🚀👩‍🚀", 4, ["👩‍🚀👩‍🚀", "👩‍🚀"]),
        ("", 5, [""]),
        ("a  b", 2, ["a", "b"]),
        ("日", 0, ["日"]),
    ])
    func textIsBrokenAtSpacesAndWideCharacters(text: String, width: Int, lines: [String]) {
        #expect(text.wrapped(to: width) == lines)
    }

    @Test(arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 4, "日…")])
    func longTextIsTruncatedWithAnEllipsis(text: String, width: Int, result: String) {
        #expect(text.truncated(to: width) == result)
        #expect(result.columns <= width)
    }

    @Test func noLineIsTooWideAndNoCharacterIsLost() {
        var random = SplitMix(seed: RandomSeed.next())
        let alphabet: [Character] = ["a", "b", " ", " ", "日", "👩‍🚀", "e\u{301}", "-", "한"]
        for _ in 0..<500 {
            let length = Int.random(in: 0...40, using: &random)
            let text = String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "a" })
            let width = Int.random(in: 2...12, using: &random)
            let lines = text.wrapped(to: width)
            #expect(lines.allSatisfy { $0.columns <= width }, "\(text) in \(width)")
            #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, "\(text) in \(width)")
        }
    }
}

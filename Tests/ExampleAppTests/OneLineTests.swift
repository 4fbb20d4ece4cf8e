import ExampleSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OneLineTests {
    @Test(arguments: [
        ("a\nb\tc", "a b c"), ("a\r\nb", "a  b"), ("\u{1B}[2J\u{07}", " [2J "), ("\u{7F}\u{9B}31m\u{85}", "  31m "),
        ("a\u{2028}b\u{2029}c", "a b c"), ("a\u{202E}b\u{2066}c\u{2069}d", "abcd"), ("é 🐦 日本", "é 🐦 日本"), ("", ""),
    ])
    func untrustedTextCannotControlTheTerminal(text: String, line: String) {
        #expect(OneLine.text(text) == line)
    }

    @Test(arguments: [
        (#"{"a":"é 🐦"}"#, #"{"a":"é 🐦"}"#), ("[\n\"\u{7F}\u{80}\u{9F}\u{A0}\"]", "[\n\"\\u007f\\u0080\\u009f\u{A0}\"]"),
        ("\"\u{2027}\u{2028}\u{202E}\u{202F}\"", "\"\u{2027}\\u2028\\u202e\u{202F}\""),
        ("\"\u{2065}\u{2066}\u{2069}\u{206A}\"", "\"\u{2065}\\u2066\\u2069\u{206A}\""),
    ])
    func jsonEscapesWhatControlsTheTerminal(json: String, text: String) {
        #expect(TerminalJSON.text(json) == text)
    }
}

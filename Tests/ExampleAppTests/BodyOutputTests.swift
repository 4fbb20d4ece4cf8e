import ExampleSupport
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BodyOutputTests {
    @Test(arguments: [
        (["{\"a\":", "1}"], true, "{\"a\":1}\n"), (["a\n", "b"], true, "a\nb\n"), (["a", "\n"], true, "a\n"),
        (["a", ""], true, "a\n"), ([], true, ""), (["a"], false, "a"),
    ])
    func aBodyEndsWithALineBreakInATerminalOnly(pieces: [String], isTerminal: Bool, text: String) throws {
        var written = ""
        var body = BodyOutput(isTerminal: isTerminal) { written += String(decoding: $0, as: UTF8.self) }
        for piece in pieces { try body.write(Data(piece.utf8)) }
        try body.end()
        #expect(written == text)
    }
}

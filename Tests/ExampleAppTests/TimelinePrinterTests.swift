import FoundationEssentials
import Linnet
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct TimelinePrinterTests {
    @Test func aPostIsPrintedOnOneLine() {
        #expect(TimelinePrinter.line(post("ada", "hello 🐦")) == "@ada: hello 🐦")
    }

    @Test(arguments: ["a\nb", "a\u{1B}b", "a\u{2028}b", "a\u{9B}b", "a\u{202E} b"])
    func controlCharactersInAPostAreReplaced(text: String) {
        #expect(TimelinePrinter.line(post("ada", text)) == "@ada: a b")
    }

    @Test func jsonCannotControlTheTerminal() throws {
        let text = "a\u{1B}[2J\u{9B}31m\u{7F}\u{2028}\u{202E}\u{2069} é 🐦"
        var response = try response(pinnedMetrics)
        response.value = [post("ada", text)]
        let json = try TimelinePrinter.json(response)
        let controls: [ClosedRange<UInt32>] = [0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069]
        #expect(!json.unicodeScalars.contains { scalar in controls.contains { $0.contains(scalar.value) } })
        #expect(!json.contains("\u{1B}") && json.contains("é 🐦"))
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        #expect(document["posts"]?[0]?["text"]?.string == text)
    }

    @Test func theSummaryDescribesAPinnedConnection() throws {
        let summary = TimelinePrinter.summary(try response(pinnedMetrics))
        #expect(
            summary == "1 post · http/1.1 · TLSv1.3 TLS_AES_256_GCM_SHA384 · pinned sha256/x · 12,345 bytes · "
                + "connect 1.2 ms, TLS 3.4 ms, total 8.9 ms")
    }

    @Test func theSummarySaysWhenTheConnectionIsNotProtected() throws {
        var metrics = pinnedMetrics
        metrics.isPinned = false
        #expect(TimelinePrinter.summary(try response(metrics)).contains(" · not pinned · "))
        metrics.tlsVersion = nil
        #expect(TimelinePrinter.summary(try response(metrics)).contains(" · not encrypted · not pinned · "))
    }

    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1_000, "1,000 bytes"), (1_234_567, "1,234,567 bytes"),
    ])
    func bytesAreGroupedByThousands(count: Int64, text: String) {
        #expect(Figures.bytes(count) == text)
    }

    @Test(arguments: [(0, "0.0 ms"), (49, "0.0 ms"), (50, "0.1 ms"), (999_960, "1000.0 ms")])
    func timesAreRoundedToTenthsOfMilliseconds(microseconds: Int, text: String) {
        #expect(Figures.milliseconds(.microseconds(microseconds)) == text)
    }

    private var pinnedMetrics: TransportMetrics {
        var metrics = TransportMetrics()
        let start = ContinuousClock.now
        metrics.start = start
        metrics.connect = .init(start: start, end: start + .microseconds(1_200))
        metrics.tlsHandshake = .init(start: start, end: start + .microseconds(3_400))
        metrics.responseEnd = start + .microseconds(8_900)
        metrics.httpVersion = "http/1.1"
        metrics.tlsVersion = "TLSv1.3"
        metrics.tlsCipher = "TLS_AES_256_GCM_SHA384"
        metrics.verifiedPins = ["sha256/x", "sha256/y"]
        metrics.isPinned = true
        metrics.responseBodyBytes = 12_345
        return metrics
    }

    private func response(_ metrics: TransportMetrics) throws -> SessionResponse<[Post]> {
        let url = try #require(URL(string: "https://localhost/"))
        return SessionResponse(
            value: [post("ada", "hi")], url: url, head: HTTPResponse(status: .ok), metrics: [metrics])
    }

    private func post(_ name: String, _ text: String) -> Post {
        Post(id: 1, text: text, user: User(username: name, avatarImage: AvatarImage(url: "https://localhost/a.png")))
    }
}

import FoundationEssentials
import Linnet
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct TimelinePrinterTests {
    @Test func aPostIsPrintedOnOneLine() throws {
        #expect(TimelinePrinter.line(try post("hello 🐦")) == "@ada: hello 🐦")
    }

    @Test(arguments: ["a\nb", "a\u{1B}b", "a\u{2028}b", "a\u{9B}b", "a\u{202E} b"])
    func controlCharactersInAPostAreReplaced(text: String) throws {
        #expect(TimelinePrinter.line(try post(text)) == "@ada: a b")
    }

    @Test func jsonCannotControlTheTerminal() throws {
        let text = "a\u{1B}[2J\u{9B}31m\u{7F}\u{2028}\u{202E}\u{2069} é 🐦"
        let json = try TimelinePrinter.json(try response(pinnedMetrics, text))
        let controls: [ClosedRange<UInt32>] = [0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069]
        #expect(!json.unicodeScalars.contains { scalar in controls.contains { $0.contains(scalar.value) } })
        #expect(!json.contains("\u{1B}") && json.contains("é 🐦"))
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        #expect(document["posts"]?[0]?["text"]?.string == text)
    }

    @Test func theSummaryDescribesAPinnedConnection() throws {
        let lines = TimelinePrinter.lines(try response(pinnedMetrics))
        #expect(lines.first == "@ada: hi")
        #expect(
            lines.last == "1 post · http/1.1 · pinned · TLSv1.3 TLS_AES_256_GCM_SHA384 · sha256/x · "
                + "connection 7, new · connecting 1.2 ms · TLS 3.4 ms · total 8.9 ms · received 12.3 kB")
    }

    @Test func theSummarySaysWhenTheConnectionIsNotProtected() throws {
        var metrics = pinnedMetrics
        metrics.isPinned = false
        metrics.tlsVersion = nil
        let summary = TimelinePrinter.lines(try response(metrics)).last
        #expect(summary?.contains(" · not pinned · not encrypted · ") == true)
    }

    private var pinnedMetrics: TransportMetrics {
        var metrics = TransportMetrics()
        let start = ContinuousClock.now
        metrics.start = start
        metrics.connectionID = 7
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

    private func response(_ metrics: TransportMetrics, _ text: String = "hi") throws -> SessionResponse<Timeline> {
        let url = try #require(URL(string: "https://localhost/"))
        let timeline = Timeline(data: [try post(text)])
        return SessionResponse(value: timeline, url: url, head: HTTPResponse(status: .ok), metrics: [metrics])
    }

    private func post(_ text: String) throws -> Post {
        let url = try #require(URL(string: "https://localhost/a.png"))
        return Post(id: 1, text: text, user: User(username: "ada", avatarImage: User.Picture(url: url)))
    }
}

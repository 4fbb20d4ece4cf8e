import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetSession

/// Twice the input takes at most two and a half times as long, whatever is in it.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct StreamScalingTests {
    @Test(arguments: [
        ("events", "data: a\n\n", 3000), ("lines of one event", "data: a\n", 3000), ("comments", ":\n", 5000),
        ("fields", "event: a\r\nid: b\r\nretry: 1\r\n", 1000), ("carriage returns", "\r", 10_000),
        ("one line", "x", 20_000),
    ])
    func eventsAreReadInLinearTime(name: String, text: String, count: Int) {
        for size in [Int.max, 11] {
            let make = { (count: Int) -> [Data] in
                let bytes = Data(String(repeating: text, count: count).utf8)
                return stride(from: 0, to: bytes.count, by: size).map {
                    bytes[$0..<min($0 + min(size, bytes.count), bytes.count)]
                }
            }
            let growth = growth(from: count, make) { pieces in
                var lines = LineSplitter(.any, limit: .max / 2)
                var parser = ServerSentEventParser(limit: .max / 2)
                for piece in pieces {
                    lines.add(piece)
                    while let line = try? lines.next() { _ = try? parser.line(line) }
                }
            }
            #expect(growth <= 2.5, "\(name), in pieces of \(size)")
        }
    }

    @Test(arguments: [
        ("Basic realm=\"a\",", 1000), ("Basic ", 3000), ("a=b, ", 2000), (",", 20_000), (" ", 20_000),
        ("x=\"\\\"\",", 1000),
        ("a=\"", 3000), ("=", 20_000), ("abc/+", 5000), ("\"", 20_000),
    ])
    func challengesAreReadInLinearTime(text: String, count: Int) {
        for start in ["", "Digest "] {
            let make = { (count: Int) in start + String(repeating: text, count: count) }
            let growth = growth(from: count, make) { _ = AuthenticationChallenge.parse([$0]) }
            #expect(growth <= 2.5, "\(start)\(text)")
        }
        let fields = { (count: Int) in (0..<count).map { "Digest p\($0)=\"\($0)\", realm=x" } }
        #expect(growth(from: 500, fields) { _ = AuthenticationChallenge.parse($0) } <= 2.5)
        let names = { (count: Int) in "Digest " + (0..<count).map { "p\($0)=v" }.joined(separator: ",") }
        #expect(growth(from: 1000, names) { _ = AuthenticationChallenge.parse([$0]) } <= 2.5)
    }
}

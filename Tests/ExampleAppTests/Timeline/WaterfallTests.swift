import FoundationEssentials
import Linnet
import Testing

@testable import ExampleApp

/// The times of the last requests on one axis.
@Suite(.timeLimit(.minutes(1)))
struct WaterfallTests {
    private static let start = ContinuousClock.now

    /// A request with one bar, in milliseconds.
    private static func trace(_ name: String, _ span: Range<Int>) -> RequestTrace {
        let (first, last) = (start + .milliseconds(span.lowerBound), start + .milliseconds(span.upperBound))
        let bar = RequestTrace.Bar(part: .firstByte, start: first, end: last)
        return RequestTrace(name: name, outcome: "200", start: first, bars: [bar])
    }

    @Test func theAxisReachesFromTheFirstBeginningToTheLastEnd() throws {
        let rows = Waterfall([Self.trace("b", 100..<200), Self.trace("a", 0..<150)]).rows
        #expect(rows.map(\.name) == ["a", "b"])
        let bars = try rows.map { try #require($0.bars.first) }
        #expect(bars.map(\.start) == [0, 0.5])
        #expect(bars.map(\.end) == [0.75, 1])
        #expect(rows[0].figures == "200, 150.0 ms: first byte 150.0 ms")
    }

    @Test func requestsBeforeAPauseOfASecondAreLeftOut() {
        let rows = Waterfall([
            Self.trace("a", 0..<100), Self.trace("b", 1_101..<1_200), Self.trace("c", 2_200..<2_300),
        ]).rows
        #expect(rows.map(\.name) == ["b", "c"])
    }

    @Test func aResponseOfTheCacheHasNoBars() {
        let cached = RequestTrace(name: "a", outcome: "from the cache", start: Self.start, bars: [])
        #expect(Waterfall([cached]).rows == [Waterfall.Row(name: "a", figures: "from the cache", bars: [])])
        #expect(Waterfall([]).rows.isEmpty)
    }

    @Test func theTerminalDrawsAColumnForEachBarAtAnyWidth() {
        let waterfall = Waterfall((0..<5).map { Self.trace("request \($0)", $0 * 10..<$0 * 10 + 1) })
        for width in [16, 40, 76] {
            for hasColors in [false, true] {
                let style = TextStyle(environment: hasColors ? [:] : ["NO_COLOR": "1"])
                let rows = WaterfallDrawing(waterfall, width: width, style: style).rows
                #expect(rows.count == 2 + 5 * 2)
                #expect(rows.dropFirst(2).enumerated().allSatisfy { $0 % 2 == 1 || $1.contains(hasColors ? "█" : "f") })
            }
        }
    }
}

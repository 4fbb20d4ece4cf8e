import FoundationEssentials
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct FiguresTests {
    @Test(arguments: [
        (0, "0 B"), (-1, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (12_345, "12.3 kB"), (99_949, "99.9 kB"),
        (999_400, "999 kB"), (999_500, "1.0 MB"), (1_234_567, "1.2 MB"), (Int64.max, "9223372 TB"),
    ])
    func sizesHaveUnits(count: Int64, text: String) {
        #expect(Figures.size(count) == text)
    }

    @Test(arguments: [(0, "0.0 ms"), (49, "0.0 ms"), (50, "0.1 ms"), (999_960, "1000.0 ms")])
    func timesAreRoundedToTenthsOfMilliseconds(microseconds: Int, text: String) {
        #expect(Figures.milliseconds(.microseconds(microseconds)) == text)
    }

    @Test(arguments: [
        (0, "now"), (-5, "now"), (5, "5 s ago"), (59, "59 s ago"), (60, "1 min ago"), (3599, "59 min ago"),
        (3600, "1 h ago"), (86_399, "23 h ago"), (86_400 * 3, "3 d ago"),
    ])
    func agesAreRelative(seconds: Int, text: String) {
        #expect(Figures.age(SampleState.now.addingTimeInterval(-Double(seconds)), now: SampleState.now) == text)
    }
}

import LinnetTesting
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
@MainActor
struct SpinnerTests {
    @Test func theSpinnerTurnsWhileShownAndErasesItsLine() async throws {
        let clock = ManualClock()
        var drawn: [String] = []
        let spinner = Spinner("Waiting", clock: clock) { drawn.append($0) }
        #expect(!spinner.isShown)
        spinner.show()
        spinner.show()
        try await clock.waitForSleepers(count: 1)
        #expect(drawn.count == 1)
        clock.advance(by: .milliseconds(80))
        try await clock.waitForSleepers(count: 1)
        #expect(drawn.count == 2)
        #expect(drawn.allSatisfy { $0.hasSuffix(" Waiting") })
        #expect(drawn[0] != drawn[1])
        spinner.hide()
        spinner.hide()
        #expect(!spinner.isShown)
        #expect(drawn.count == 3)
        #expect(drawn.last == "\r\u{1B}[K")
    }
}

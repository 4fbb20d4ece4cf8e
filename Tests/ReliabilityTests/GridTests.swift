import FoundationEssentials
import LinnetTesting
import Testing

/// Every fault of a server, at every point of an exchange: within its timeout, each exchange ends with the right result
/// or a typed error that says what happened.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(10)))
struct GridTests {
    struct Fault: Sendable, Hashable, CustomTestStringConvertible {
        let trigger: Cell.Trigger
        let effect: Cell.Effect
        var testDescription: String { "\(effect.rawValue) at \(trigger.rawValue)" }
    }

    static let faults = Cell.Trigger.allCases.flatMap { trigger in
        Cell.Effect.allCases.map { Fault(trigger: trigger, effect: $0) }
    }
    /// The file that `make reliability` writes the outcomes to.
    static let report = Environment.report

    @Test(.enabled(if: report == nil, "the table is written"), arguments: faults)
    func eachExchangeEndsWell(_ fault: Fault) async throws {
        for (cell, outcome) in try await Self.outcomes(of: fault) { check(cell, outcome) }
    }

    @Test(.enabled(if: report != nil, "`make reliability` writes the table")) func theTableIsWritten() async throws {
        var table = Table()
        for fault in Self.faults {
            for (cell, outcome) in try await Self.outcomes(of: fault) {
                check(cell, outcome)
                table.add(outcome, of: cell)
            }
        }
        guard let report = Self.report else { return }
        try table.text.write(toFile: report, atomically: true, encoding: .utf8)
    }

    private func check(_ cell: Cell, _ outcome: Exchange.Outcome) {
        #expect(outcome.violations.isEmpty, "\(cell.testDescription): \(outcome.result)")
        #expect(cell.allowedResults.contains(outcome.result), "\(cell.testDescription)")
    }

    /// Performs the exchanges of all cells with a fault, side by side.
    private static func outcomes(of fault: Fault) async throws -> [(Cell, Exchange.Outcome)] {
        let pki = try TestPKI()
        let identity = try pki.identity { $0.hosts = ["localhost"] }
        let root = pki.root
        return try await withThrowingTaskGroup(of: (Cell, Exchange.Outcome).self) { group in
            for cell in Cell.all(fault.trigger, fault.effect) {
                group.addTask { (cell, try await Exchange(cell: cell, root: root, identity: identity).run()) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

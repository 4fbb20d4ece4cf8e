import BenchMemory
import Foundation
import Linnet
import Synchronization

/// The outcomes of the operations by kind and by lane, and those that must not be.
final class Tally: Sendable {
    private struct State {
        var kinds: [Kind: [String: Int]] = [:]
        var lanes: [Lane.Name: [String: Int]] = [:]
        var causes: [String: Int] = [:]
        var lost: [String] = []
        var wrong: [String] = []
    }

    private static let shown = 20
    private let state = Mutex(State())
    private let weather: Weather
    private let ledger: Ledger

    init(_ weather: Weather, _ ledger: Ledger) {
        self.weather = weather
        self.ledger = ledger
    }

    /// Notes the one outcome of an operation.
    func note(_ draw: Draw, _ result: Result<Exchange.Success, any Error>, since start: ContinuousClock.Instant) {
        var outcome = ""
        var (lost, wrong, cause): (String?, String?, String?) = (nil, nil, nil)
        let what =
            "\(draw.number) \(draw.lane) \(draw.kind) of \(draw.size) bytes, fault \(draw.fault?.field ?? "none"), "
            + (draw.isRetried ? "retried" : "not retried")
        switch result {
        case .success(let success):
            outcome = success.rawValue
            if success == .ok, draw.lane.hasTLS, weather.refusesAll(on: draw.lane, since: start) {
                wrong = "\(what): a server was accepted that the pins refuse"
            }
        case .failure(let error as SessionError):
            outcome = error.code.description
            cause = self.cause(of: error, draw, since: start)
            if cause == nil { lost = "\(what): \(error)" }
        case .failure(is CancellationError):
            outcome = SessionError.Code.cancelled.description
            cause = "cancelled"
        case .failure(let error):
            outcome = "wrong"
            wrong = "\(what): \(error)"
        }
        ledger.note("\(draw.number) \(outcome)")
        state.withLock { [outcome, lost, wrong, cause] state in
            state.kinds[draw.kind, default: [:]][outcome, default: 0] += 1
            state.lanes[draw.lane, default: [:]][outcome, default: 0] += 1
            if let cause { state.causes["\(outcome): \(cause)", default: 0] += 1 }
            if let lost { state.lost.append(lost) }
            if let wrong { state.wrong.append(wrong) }
        }
        if let fault = lost ?? wrong, count.lost + count.wrong <= Self.shown {
            tell("\(lost == nil ? "WRONG" : "LOST ") \(fault)")
        }
    }

    private func cause(of error: SessionError, _ draw: Draw, since start: ContinuousClock.Instant) -> String? {
        if error.code == .cancelled, draw.cancellation != nil { return "cancelled" }
        // A download that is interrupted after its last bytes can have nothing to resume.
        if error.code == .cancelled, draw.kind == .resumed { return "interrupted at its end" }
        if error.code == .timeout, draw.kind == .timeout { return "timeout of the request" }
        if let fault = draw.fault, fault.codes.contains(error.code) {
            if !(draw.isMadeGoodByRetries && fault.isTransient) { return "fault of the server" }
        }
        return weather.cause(of: error.code, on: draw.lane, since: start)
    }

    var count: (done: Int, lost: Int, wrong: Int) {
        state.withLock { state in
            (state.kinds.values.reduce(0) { $0 + $1.values.reduce(0, +) }, state.lost.count, state.wrong.count)
        }
    }

    // MARK: Tables

    func print() {
        let state = state.withLock { $0 }
        table("operation", Kind.allCases.map { ($0.rawValue, state.kinds[$0] ?? [:]) })
        table("lane", Lane.Name.allCases.map { ($0.rawValue, state.lanes[$0] ?? [:]) })
        tell("causes of the errors: " + Self.list(state.causes))
        tell("done to the lanes: " + Self.list(weather.counts))
    }

    private func table(_ title: String, _ rows: [(String, [String: Int])]) {
        let totals = rows.reduce(into: [String: Int]()) { $0.merge($1.1, uniquingKeysWith: +) }
        let outcomes = totals.keys.sorted { (totals[$0] ?? 0, $1) > (totals[$1] ?? 0, $0) }
        tell("")
        tell("| \(title) | " + outcomes.joined(separator: " | ") + " |")
        tell("|---|" + outcomes.map { _ in "---:|" }.joined())
        for (name, counts) in rows + [("all", totals)] where !counts.isEmpty {
            tell("| \(name) | " + outcomes.map { counts[$0].map(String.init) ?? "" }.joined(separator: " | ") + " |")
        }
        tell("")
    }

    static func list(_ counts: [String: Int]) -> String {
        counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }
}

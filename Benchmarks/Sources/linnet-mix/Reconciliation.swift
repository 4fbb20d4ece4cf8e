import Foundation

/// Compares the counts of the servers with the outcomes of the client.
struct Reconciliation {
    private struct Row {
        /// The requests at each hop.
        var begun: [Int: Int] = [:]
        /// Those with a method that is not idempotent; a redirect can change it.
        var once: [Int: Int] = [:]
        var taken = 0
        var answered = 0
    }

    private(set) var faults: [String] = []
    private(set) var summary = ""

    init(issued: UInt64, client: String, server: String, draw: (UInt64) -> Draw) {
        var rows: [UInt64: Row] = [:]
        var (begun, taken, answered) = (0, 0, 0)
        Ledger.read(server) { words in
            guard words.count >= 3, let number = UInt64(words[1]), let hop = Int(words[2]) else { return }
            switch words[0] {
            case "B":
                rows[number, default: Row()].begun[hop, default: 0] += 1
                if words.last == "POST" || words.last == "PATCH" {
                    rows[number, default: Row()].once[hop, default: 0] += 1
                }
                begun += 1
            case "T":
                rows[number, default: Row()].taken += 1
                taken += 1
            default:
                rows[number, default: Row()].answered += 1
                answered += 1
            }
        }
        var outcomes: [UInt64: Substring] = [:]
        Ledger.read(client) { words in
            guard words.count == 2, let number = UInt64(words[0]) else { return }
            if outcomes.updateValue(words[1], forKey: number) != nil {
                faults.append("\(number) has more than one outcome")
            }
        }
        for number in 0..<issued where outcomes[number] == nil { faults.append("\(number) has no outcome") }
        for number in rows.keys where number >= issued { faults.append("the server has \(number), which was not sent") }
        var (failed, repeated) = (0, 0)
        for (number, outcome) in outcomes {
            let draw = draw(number)
            let row = rows[number] ?? Row()
            let most = row.begun.values.max() ?? 0
            if most > (draw.kind == .resumed ? 2 : 1) { repeated += 1 }
            if most > draw.mostBegun || draw.kind.isOnce && row.once.values.contains(where: { $0 > 1 }) {
                faults.append("\(number) \(draw.lane) \(draw.kind) was processed \(most) times, outcome \(outcome)")
            }
            if outcome == "ok", row.answered == 0 {
                faults.append("\(number) \(draw.lane) \(draw.kind) succeeded, but no server has answered it")
            }
            if outcome != "ok", outcome != "hit", row.answered > 0 { failed += 1 }
        }
        summary =
            "\(issued) operations were begun, \(outcomes.count) have an outcome; the servers began \(begun) requests, "
            + "took \(taken) bodies, answered \(answered); \(repeated) operations were processed more than once with leave; "
            + "\(failed) were answered and failed on the way back"
    }
}

extension Draw {
    /// How often the server may begin a request of this operation.
    var mostBegun: Int {
        // Each attempt may be repeated once after a connection that was idle.
        let attempts = (isRetried ? 3 : 1) * 2
        return kind == .hedged || kind == .resumed ? attempts * 2 : attempts
    }
}

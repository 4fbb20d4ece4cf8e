import Foundation

/// The environment of the tests.
enum Environment {
    static let report = ProcessInfo.processInfo.environment["LINNET_RELIABILITY"]
}

/// The outcomes of the grid as a document.
struct Table {
    private var results: [Cell: String] = [:]

    mutating func add(_ outcome: Exchange.Outcome, of cell: Cell) { results[cell] = outcome.result }

    var text: String {
        let kinds = Cell.Kind.allCases
        var lines = [
            "# Reliability", "",
            "`make reliability` writes this page. A server of the tests has each fault once, at each point of an exchange, over HTTP/1.1",
            "and HTTP/2, plain, over TLS and through a SOCKS proxy. Each of the \(results.count) exchanges ends within its timeout, with the",
            "right result or with an error whose code is in the tables, and the session sends its next request. No result is short or",
            "wrong, no file is there after an error, and no upload is processed twice. `make test` has the same exchanges.",
            "",
            "*ok* is the right result. Several outcomes in a cell are those of several versions, or of plain connections and TLS; after a",
            "reset they also depend on the bytes that were read before it. *retried* is the outcome in a session that retries once.",
            "",
        ]
        for trigger in Cell.Trigger.allCases {
            lines += ["## \(trigger.title)", ""]
            lines.append("| fault | " + kinds.map(\.rawValue).joined(separator: " | ") + " |")
            lines.append("|---|" + kinds.map { _ in "---" }.joined(separator: "|") + "|")
            for effect in Cell.Effect.allCases {
                let cells = kinds.map { text(of: results.keys.filter(matching(trigger, effect, $0))) }
                if cells.contains(where: { $0 != "–" }) {
                    lines.append("| \(effect.rawValue) | " + cells.joined(separator: " | ") + " |")
                }
            }
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }

    private func matching(_ trigger: Cell.Trigger, _ effect: Cell.Effect, _ kind: Cell.Kind) -> (Cell) -> Bool {
        { $0.trigger == trigger && $0.effect == effect && $0.kind == kind }
    }

    private func text(of cells: [Cell]) -> String {
        let alone = names(of: cells.filter { !$0.retries })
        let retried = names(of: cells.filter(\.retries))
        if alone.isEmpty { return retried.isEmpty ? "–" : retried }
        return retried.isEmpty || retried == alone ? alone : "\(alone); retried: \(retried)"
    }

    private func names(of cells: [Cell]) -> String {
        Set(cells.compactMap { results[$0] }).sorted().map { $0 == "value" ? "*ok*" : "`\($0)`" }
            .joined(separator: ", ")
    }
}

extension Cell.Trigger {
    fileprivate var title: String {
        switch self {
        case .accept: "After the connection was accepted"
        case .hello: "After the client's first bytes"
        case .requestHead: "After the head of the request"
        case .requestBody: "In the body of the request"
        case .responseHead: "Before the head of the response"
        case .responseBody: "In the body of the response"
        case .responseEnd: "Before the end of the response"
        case .idle: "After the response"
        }
    }
}

import BenchMemory
import Foundation

/// Checks that memory does not grow, for each kind of body and each way in which an exchange ends.
///
/// ```
/// linnet-leaks                         50,000 exchanges of each kind, over each protocol
/// linnet-leaks 2000                    fewer
/// linnet-leaks 2000 h2 "unread"        over one protocol, one kind
/// ```
///
/// `make soak` builds and runs it with glibc's thread caches disabled (`GLIBC_TUNABLES=glibc.malloc.tcache_count=0`),
/// because these count as allocated.
///
/// Each row has a server in a separate process, and begins with a fifth of the exchanges to fill the caches. Then
/// memory is measured at the start, at each quarter and at the end. A row that grows is measured again, up to three
/// times. The exit code is 1 when a row still grows by more than `Growth.noise`, when descriptors or threads are left,
/// or when an exchange did not end as expected.
@main
struct Leaks {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == "serve", words.count == 2, let wire = Wire(rawValue: words[1]) {
            return try await Server.serve(wire)
        }
        let exchanges = words.first.map { Int($0) ?? 0 } ?? 50_000
        let wires = Wire.allCases.filter { words.count < 2 || words[1] == "all" || words[1] == $0.rawValue }
        let kinds = Kind.all.filter { words.count < 3 || $0.name == words[2] }
        guard exchanges >= 100, !wires.isEmpty, !kinds.isEmpty else {
            print("usage: linnet-leaks [EXCHANGES [PROTOCOL [KIND]]]")
            print("protocols: all, \(Wire.allCases.map(\.rawValue).joined(separator: ", "))")
            print("kinds: \(Kind.all.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        tell("exchanges of a kind: \(exchanges), after \(exchanges / 5) that are not measured")
        var failed: [String] = []
        for wire in wires {
            for kind in kinds {
                let row = Row(wire: wire, kind: kind, exchanges: max(exchanges / kind.cost, 100))
                let faults: [String]
                do {
                    faults = try await row.run()
                } catch {
                    faults = ["\(error)"]
                }
                if !faults.isEmpty { failed.append("\(wire.rawValue) \(kind.name): \(faults.joined(separator: "; "))") }
            }
        }
        for line in failed { tell("FAILED  \(line)") }
        tell(failed.isEmpty ? "nothing leaks" : "\(failed.count) rows failed")
        exit(failed.isEmpty ? 0 : 1)
    }
}

/// The protocol of the requests.
enum Wire: String, CaseIterable {
    case h1
    case h2
    case tls
}

import FoundationEssentials
import Linnet
import Testing

/// nginx sends GOAWAY after a few requests of each connection, and drops later ones on their way.
///
/// `LINNET_TEST_GOAWAY_REQUESTS=10000` turns it into a load test.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(10)))
struct NginxGoAwayTests {
    private static let requests =
        ProcessInfo.processInfo.environment["LINNET_TEST_GOAWAY_REQUESTS"].flatMap { Int($0) } ?? 1_000

    /// A server, the number of concurrent requests, and its share of all requests.
    struct Load: Sendable, CustomTestStringConvertible {
        let server: Server
        let workers: Int
        var share = 1

        var testDescription: String { "\(server.variable), \(workers) at once" }
    }

    @Test(
        arguments: [
            Load(server: .http2Few, workers: 64), Load(server: .http2One, workers: 16, share: 5),
            Load(server: .http2One, workers: 64, share: 10),
        ], [HTTPRequest.Method.get, .post])
    func noRequestIsLost(load: Load, method: HTTPRequest.Method) async throws {
        let count = Self.requests / load.share
        try await load.server.withHTTP2Session { session in
            let answered = try await withThrowingTaskGroup(of: Int.self) { group in
                for worker in 0..<load.workers {
                    group.addTask {
                        var answered = 0
                        for number in stride(from: worker, to: count, by: load.workers) {
                            let call = method == .get ? session.get("echo") : session.post("echo", ["a": "b"])
                            let response = try await call.headers([.xMarker: "\(number)"])
                                .response(JSONResponseSerializer())
                            #expect(response.value?["marker"] == "\(number)")
                            answered += 1
                        }
                        return answered
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(answered == count)
        }
    }
}

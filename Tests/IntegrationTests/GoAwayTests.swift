import FoundationEssentials
import Linnet
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// Many requests to a server that frequently sends GOAWAY and counts the requests it has served.
///
/// `LINNET_TEST_GOAWAY_REQUESTS=100000` turns it into a load test.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(10)))
struct GoAwayTests {
    private static let requests =
        ProcessInfo.processInfo.environment["LINNET_TEST_GOAWAY_REQUESTS"].flatMap { Int($0) } ?? 5_000
    private static let perConnection = requests >= 100_000 ? 500 : 50

    /// The number of times that each request was served.
    private final class Tally: Sendable {
        private let counts = Mutex<[Int: Int]>([:])

        var served: Int { counts.withLock { $0.count } }
        var doubled: [Int] { counts.withLock { counts in counts.filter { $0.value > 1 }.keys.sorted() } }

        func count(_ number: Int) {
            counts.withLock { $0[number, default: 0] += 1 }
        }
    }

    /// Uses POST, which a client must not repeat automatically unless the server has not processed it.
    @Test(arguments: [true, false])
    func everyRequestIsServedExactlyOnce(refusesLateStreams: Bool) async throws {
        let tally = Tally()
        let configuration = MockServer.Configuration {
            $0.httpVersions = .http2
            $0.http2.goAway = .after(Self.perConnection)
            $0.http2.refusesLateStreams = refusesLateStreams
        }
        let handler: MockServer.Handler = { request in
            if let number = Int(request.bodyText) { tally.count(number) }
            return .text(request.bodyText)
        }
        try await withMockServer(configuration: configuration, handler: handler) { server in
            let answered = try await send(to: server)
            #expect(answered == Self.requests)
            #expect(tally.served == Self.requests)
            #expect(tally.doubled.isEmpty)
            #expect(server.acceptedConnections >= Self.requests / Self.perConnection)
            #expect(server.connectionFailures.isEmpty)
        }
    }

    private func send(to server: MockServer) async throws -> Int {
        let session = try HTTPSession(baseURL: server.url) { $0.httpVersions = .http2 }
        let workers = 32
        let answered = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var answered = 0
                    for number in stride(from: worker, to: Self.requests, by: workers) {
                        let request = SessionRequest(
                            url: server.url, method: .post, body: .data(Data("\(number)".utf8)))
                        let response = try await session.call(request).response(StringResponseSerializer())
                        #expect(response.value == "\(number)")
                        answered += 1
                    }
                    return answered
                }
            }
            return try await group.reduce(0, +)
        }
        await session.shutdown()
        return answered
    }
}

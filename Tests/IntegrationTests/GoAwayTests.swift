import FoundationEssentials
import Linnet
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// Many requests to a server that says GOAWAY all the time, and counts what it has served.
///
/// `LINNET_TEST_GOAWAY_REQUESTS=100000` makes it the load test that it is meant to be.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(10)))
struct GoAwayTests {
    private static let requests =
        ProcessInfo.processInfo.environment["LINNET_TEST_GOAWAY_REQUESTS"].flatMap { Int($0) } ?? 5_000
    private static let perConnection = requests >= 100_000 ? 500 : 50

    /// How often each request was served.
    private final class Tally: Sendable {
        private let counts = Mutex<[Int: Int]>([:])

        var served: Int { counts.withLock { $0.count } }
        var doubled: [Int] { counts.withLock { counts in counts.filter { $0.value > 1 }.keys.sorted() } }

        func count(_ number: Int) {
            counts.withLock { $0[number, default: 0] += 1 }
        }
    }

    /// POST, which no client may repeat on its own unless it knows that the server has not seen it.
    @Test(arguments: [MockServer.Configuration.LateStreams.refused, .ignored])
    func noRequestIsLostAndNoneIsDoubled(late: MockServer.Configuration.LateStreams) async throws {
        let tally = Tally()
        let configuration = MockServer.Configuration {
            $0.httpVersions = .http2
            $0.http2.goAway = .after(Self.perConnection)
            $0.http2.lateStreams = late
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
                        let request = Request(url: server.url, method: .post, body: .data(Data("\(number)".utf8)))
                        let response = try await session.session.response(
                            for: request, serializer: StringResponseSerializer())
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

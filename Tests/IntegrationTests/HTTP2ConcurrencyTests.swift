import FoundationEssentials
import Linnet
import LinnetTesting
import LinnetTransport
import Testing

/// Concurrent requests over HTTP/2 to servers that limit the streams or requests of a connection.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(5)))
struct HTTP2ConcurrencyTests {
    @Test(arguments: Server.nginxHTTP2)
    func requestsWaitForTheFewStreamsThatNginxAllows(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let served = try await many(400, workers: 64) { number in
                let response = try await session.get("echo", ["number": ParameterValue(number)]).headers([
                    .xMarker: "marker-\(number)"
                ]).response(JSONResponseSerializer())
                #expect(response.value?["uri"] == "/echo?number=\(number)")
                #expect(response.value?["marker"] == "marker-\(number)")
                return try ServedBy(response)
            }
            #expect(Set(served).count == 400)
            #expect(Set(served.map(\.connection)).count == 1)
        }
    }

    @Test(arguments: [Server.nghttpd, .nghttpdPlain])
    func requestsWaitForTheFewStreamsThatNghttpdAllows(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let right = try await many(400, workers: 64) { number in
                let file = number.isMultiple(of: 8) ? ServedFile.middle : .small
                return try await session.get(file.path).response().value == file.bytes
            }
            #expect(right.count { $0 } == 400)
        }
    }

    @Test func sequentialRequestsUseEachConnectionUpToItsLimit() async throws {
        try await Server.http2KeepAlive.withHTTP2Session { session in
            var served: [ServedBy] = []
            for _ in 0..<100 {
                let response = try await session.get("1k").response()
                #expect(response.value == ServedFile.small.bytes)
                served.append(try ServedBy(response))
            }
            #expect(Set(served).count == 100)
            #expect(Set(served.map(\.connection)).count >= 5)
        }
    }

    @Test func noRequestIsLostWhenTheServerSendsGoAway() async throws {
        try await Server.http2KeepAlive.withHTTP2Session { session in
            let markers = try await many(1_000, workers: 32) { number in
                let marker = "marker-\(number)"
                let response = try await session.post("echo", ["number": ParameterValue(number)]).headers([
                    .xMarker: marker
                ]).response(JSONResponseSerializer())
                #expect(response.value?["marker"] == .string(marker))
                return marker
            }
            #expect(Set(markers).count == 1_000)
        }
    }

    @Test(arguments: Server.allHTTP2)
    func aCancelledRequestDoesNotAffectOthers(server: Server) async throws {
        try await server.withHTTP2Session { session in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for _ in 0..<10 {
                            if worker.isMultiple(of: 2) {
                                // Abandoned in the middle of ten megabytes.
                                let request = try session.call(.get, "bytes-10m").request()
                                for try await chunk in try await session.call(request).bytes().body {
                                    #expect(!chunk.isEmpty)
                                    break
                                }
                            } else {
                                let response = try await session.get("bytes-64k").response()
                                #expect(response.value == ServedFile.middle.bytes)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let last = try await session.get("1k").response()
            #expect(last.value == ServedFile.small.bytes)
        }
    }

    @Test func aCancelledStreamLeavesItsConnectionOpen() async throws {
        try await Server.http2.withHTTP2Session { session in
            let before = try ServedBy(try await session.get("1k").response())
            for try await chunk in try await session.get("bytes-10m").bytes().body {
                #expect(!chunk.isEmpty)
                break
            }
            let after = try ServedBy(try await session.get("1k").response())
            #expect(after.connection == before.connection)
        }
    }

    /// Sends numbered requests with limited concurrency, and returns the results.
    private func many<R: Sendable>(
        _ count: Int, workers: Int, _ request: @escaping @Sendable (Int) async throws -> R
    ) async throws -> [R] {
        try await withThrowingTaskGroup(of: [R].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var results: [R] = []
                    for number in stride(from: worker, to: count, by: workers) {
                        results.append(try await request(number))
                    }
                    return results
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}

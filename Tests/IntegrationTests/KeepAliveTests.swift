import FoundationEssentials
import Linnet
import Testing

/// Tests with a server that closes each connection after its fifth request.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct KeepAliveTests {
    private static let requestsPerConnection = 5

    @Test func sequentialRequestsUseEachConnectionUpToItsLimit() async throws {
        try await Server.keepAlive.withSession { session in
            var served: [ServedBy] = []
            for _ in 0..<100 {
                let response = try await session.get("1k").response()
                #expect(response.value == ServedFile.small.bytes)
                served.append(try ServedBy(response))
            }
            #expect(Set(served.map(\.connection)).count == 100 / Self.requestsPerConnection)
            #expect(served.map(\.request) == (0..<100).map { $0 % Self.requestsPerConnection + 1 })
        }
    }

    @Test func noConcurrentRequestIsLost() async throws {
        try await Server.keepAlive.withSession { session in
            let served = try await withThrowingTaskGroup(of: [ServedBy].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var served: [ServedBy] = []
                        for _ in 0..<25 {
                            let response = try await session.get("1k").response()
                            #expect(response.value == ServedFile.small.bytes)
                            served.append(try ServedBy(response))
                        }
                        return served
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(served.count == 200)
            #expect(Set(served).count == 200)
            #expect(served.allSatisfy { (1...Self.requestsPerConnection).contains($0.request) })
            // Eight connections at a time with five requests each: few more connections than necessary.
            #expect(Set(served.map(\.connection)).count <= 200 / Self.requestsPerConnection + 8)
        }
    }

    @Test(arguments: Surface.allCases)
    func unrepeatablePostsSucceed(surface: Surface) async throws {
        try await Server.keepAlive.withSession { session in
            for number in 0..<30 {
                let response = try await surface.send(
                    .post, "echo", on: session, parameters: ["number": ParameterValue(number)],
                    headers: [.xMarker: "post-\(number)"])
                #expect(response.value?["method"] == "POST")
                #expect(response.value?["marker"] == "post-\(number)")
                #expect(response.value?["contentLength"] == "\("number=\(number)".utf8.count)")
            }
        }
    }

    @Test func concurrentPostsAreNotMixedUp() async throws {
        try await Server.keepAlive.withSession { session in
            let markers = try await withThrowingTaskGroup(of: [String].self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var markers: [String] = []
                        for number in 0..<25 {
                            let marker = "\(worker)-\(number)"
                            let response = try await session.post("echo", ["marker": ParameterValue(marker)]).headers([
                                .xMarker: marker
                            ]).response(JSONResponseSerializer())
                            #expect(response.value?["marker"] == .string(marker))
                            markers.append(response.value?["marker"]?.string ?? "none")
                        }
                        return markers
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(markers).count == 200)
        }
    }

    @Test func uploadsSucceedAcrossConnectionLimits() async throws {
        try await Server.keepAlive.withSession { session in
            let url = try session.url(for: "upload")
            for size in (1...12).map({ $0 * 10_000 }) {
                let body = HTTPRequestBody.data(Data(repeating: 0x61, count: size))
                let task = session.call(SessionRequest(url: url, method: .post)).body(body).task(
                    StringResponseSerializer())
                task.resume()
                #expect(try await task.value.value == "\(size)\n")
            }
        }
    }
}

import FoundationEssentials
import Linnet
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct LoadTests {
    @Test(arguments: [(Server.plain, 2_000), (.tls, 500)])
    func noneOfManyConcurrentRequestsIsLostOrMixedUp(server: Server, count: Int) async throws {
        try await server.withSession {
            $0.pool.connectionsPerOrigin = 32
        } run: { session in
            let right = try await Load(requests: count, workers: 32).run(on: session)
            #expect(right == count)
        }
    }

    @Test func requestsQueueForFewConnections() async throws {
        try await Server.plain.withSession {
            $0.pool.connectionsPerOrigin = 2
        } run: { session in
            let right = try await Load(requests: 400, workers: 32).run(on: session)
            #expect(right == 400)
        }
    }

    /// Runs in a separate process, in which no other test opens or closes descriptors.
    @Test func noDescriptorIsLeftAfterShutdown() async {
        await #expect(processExitsWith: .success) {
            // Creates the process-wide objects, such as the shared event loops.
            try await Server.tls.withSession { session in
                _ = try await session.get("1k").response()
            }
            let before = try descriptors()
            for server in [Server.plain, .tls] {
                try await server.withSession {
                    $0.pool.connectionsPerOrigin = 32
                } run: { session in
                    _ = try await Load(requests: server == .plain ? 2_000 : 300, workers: 32).run(on: session)
                }
            }
            try await Server.plain.withSession {
                $0.eventLoops = .dedicated(threads: 4)
            } run: { session in
                _ = try await Load(requests: 500, workers: 32).run(on: session)
            }
            let left = try descriptors().subtracting(before)
            guard left.isEmpty else { throw Leak(descriptors: left.sorted()) }
        }
    }
}

/// The descriptors that are still open.
private struct Leak: Error {
    let descriptors: [String]
}

/// The open descriptors of the process with their targets, without pipes: Linnet opens none, and the thread sanitizer
/// talks to its symbolizer through some.
private func descriptors() throws -> Set<String> {
    let folder = "/proc/self/fd"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    // The descriptor that was used for listing is closed and has no target.
    return Set(
        names.compactMap { name in
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"),
                !target.hasPrefix("pipe:")
            else { return nil }
            return "\(name) \(target)"
        })
}

/// Many GET requests: some for files of different sizes, most for an echo of a unique value.
private struct Load {
    let requests: Int
    let workers: Int

    /// Sends the requests, and returns the number of correct responses.
    func run(on session: HTTPSession) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var right = 0
                    for number in stride(from: worker, to: requests, by: workers)
                    where try await send(number, on: session) {
                        right += 1
                    }
                    return right
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func send(_ number: Int, on session: HTTPSession) async throws -> Bool {
        switch number % 8 {
        case 0: try await isRight(.middle, on: session)
        case 1, 2: try await isRight(.small, on: session)
        default: try await isEchoed(number, on: session)
        }
    }

    private func isRight(_ file: ServedFile, on session: HTTPSession) async throws -> Bool {
        let isRight = try await session.get(file.path).response().value == file.bytes
        #expect(isRight)
        return isRight
    }

    private func isEchoed(_ number: Int, on session: HTTPSession) async throws -> Bool {
        let response = try await session.get("echo", ["number": ParameterValue(number)]).headers([
            .xMarker: "marker-\(number)"
        ]).response(JSONResponseSerializer())
        #expect(response.value?["uri"] == "/echo?number=\(number)")
        #expect(response.value?["marker"] == "marker-\(number)")
        return response.value?["uri"] == "/echo?number=\(number)"
    }
}

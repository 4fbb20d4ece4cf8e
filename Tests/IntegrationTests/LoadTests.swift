import FoundationEssentials
import Linnet
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct LoadTests {
    @Test(arguments: [(Server.plain, 2_000), (.tls, 500)])
    func noneOfManyConcurrentRequestsIsLostOrMixedUp(server: Server, count: Int) async throws {
        try await server.withSession {
            $0.maximumConnectionsPerOrigin = 32
        } run: { session in
            let right = try await Load(requests: count, workers: 32).run(on: session)
            #expect(right == count)
        }
    }

    @Test func requestsQueueForFewConnections() async throws {
        try await Server.plain.withSession {
            $0.maximumConnectionsPerOrigin = 2
        } run: { session in
            let right = try await Load(requests: 400, workers: 32).run(on: session)
            #expect(right == 400)
        }
    }

    /// In a process of its own, where nobody else opens or closes anything.
    @Test func noDescriptorIsLeftAfterShutdown() async {
        await #expect(processExitsWith: .success) {
            // What is made once for the process, such as the shared event loops, is there after this.
            try await Server.tls.withSession { session in
                _ = try await session.get("1k").response()
            }
            let before = try descriptors()
            for server in [Server.plain, .tls] {
                try await server.withSession {
                    $0.maximumConnectionsPerOrigin = 32
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

/// Descriptors that are still open.
private struct Leak: Error {
    let descriptors: [String]
}

/// What the process has open: each descriptor, and what it stands for.
private func descriptors() throws -> Set<String> {
    let folder = "/proc/self/fd"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    // The one that lists the folder is gone by now, and has no destination.
    return Set(
        names.compactMap { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map { "\(name) \($0)" }
        })
}

/// Many GETs, some for files of different sizes, most for an echo of what only this request said.
private struct Load {
    let requests: Int
    let workers: Int

    /// How many responses came and were the right ones.
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

import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

/// Uploads to slow servers: the bytes that the socket accepts are progress.
@Suite("The pace of uploads", .leavesNothingAlive, .timeLimit(.minutes(4)), .serialized)
struct UploadPaceTests {
    /// Reads a body at a steady pace, and answers with its size.
    private static func server(
        tls identity: TestPKI.Identity?, reading total: Int, bytesPerSecond: Int
    ) async throws -> MockServer {
        let configuration = MockServer.Configuration { $0.hostName = identity == nil ? "127.0.0.1" : "localhost" }
        return try await MockServer.startRaw(tls: identity, configuration: configuration) { connection in
            var bytes = try await UploadedBytes(on: connection)
            let start = ContinuousClock.now
            while bytes.count < total {
                try await bytes.read(upTo: bytes.count + 1)
                // The time for the bytes read so far.
                try await Task.sleep(until: start + .seconds(Double(bytes.count) / Double(bytesPerSecond)))
            }
            let text = "\(bytes.count)"
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
            try await bytes.readToEnd()
        }
    }

    /// Uploads bytes to a server with a given pace.
    private func upload(
        _ kind: UploadKind, overTLS: Bool, _ total: Int, bytesPerSecond: Int, timeouts: TransportTimeouts
    ) async throws {
        let pki = try TestPKI()
        let server = try await Self.server(
            tls: overTLS ? try pki.identity() : nil, reading: total, bytesPerSecond: bytesPerSecond)
        let anchors = try TrustAnchors.certificates([pki.root])
        try await withTransport({ $0.securityPolicy = .systemTrust(anchors: anchors) }) { transport in
            let response = try await transport.send(
                server.request(.put, body: kind.body(total), timeouts: timeouts))
            let variant: Comment = "\(kind), TLS: \(overTLS)"
            #expect(response.head.status == .ok, variant)
            #expect(response.metrics.requestBodyBytes == Int64(total), variant)
            #expect(!response.metrics.isRequestBodyCutShort, variant)
        }
        await server.shutdown()
    }

    /// Uploads bodies of each kind side by side, over plain HTTP and over TLS.
    private func uploadEachKind(_ total: Int, bytesPerSecond: Int, timeouts: TransportTimeouts) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in UploadKind.allCases {
                for overTLS in [false, true] {
                    group.addTask {
                        try await upload(
                            kind, overTLS: overTLS, total, bytesPerSecond: bytesPerSecond, timeouts: timeouts)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// The upload takes longer than each idle timeout, and the server never pauses for as long. The read timeout leaves
    /// room for the part of the body in the system's buffers when the socket has accepted its last byte: about ten
    /// megabytes on loopback, which take more than a second of the four. Otherwise the timeouts are as long as
    /// possible, because a busy machine is slower.
    @Test func aSlowButSteadyServerDoesNotTimeOut() async throws {
        try await uploadEachKind(
            32 * 1024 * 1024, bytesPerSecond: 8 * 1024 * 1024,
            timeouts: TransportTimeouts(idleRead: .milliseconds(3_500), idleWrite: .milliseconds(2_300)))
    }

    /// At 1 MB/s for 90 s, with the timeouts that a transport has.
    @Test(.enabled(if: environment("LINNET_TEST_SLOW") == "1", "it takes 90 s: set LINNET_TEST_SLOW=1"))
    func ninetySecondsAreNoTimeoutByDefault() async throws {
        try await uploadEachKind(90 * 1024 * 1024, bytesPerSecond: 1024 * 1024, timeouts: TransportTimeouts())
    }

    /// When bytes were last reported as sent, and how many.
    private final class LastWrite: TransportObserver {
        private let state = Mutex((time: ContinuousClock.now, bytes: 0, steps: 0))

        var last: (time: ContinuousClock.Instant, bytes: Int, steps: Int) { state.withLock { $0 } }

        func didSendBody(bytes: Int) {
            state.withLock { $0 = (.now, $0.bytes + bytes, $0.steps + 1) }
        }
    }

    @Test(arguments: UploadKind.allCases, [false, true])
    func aServerThatReadsNothingIsATimeoutAfterTheIdleTime(kind: UploadKind, overTLS: Bool) async throws {
        let idle = Duration.milliseconds(400)
        let pki = try TestPKI()
        let configuration = MockServer.Configuration { $0.hostName = overTLS ? "localhost" : "127.0.0.1" }
        let server = try await MockServer.startRaw(
            tls: overTLS ? try pki.identity() : nil, configuration: configuration
        ) { connection in
            // Over TLS the server has read the handshake.
            _ = try await connection.read()
            try await connection.perform(.stall)
        }
        let anchors = try TrustAnchors.certificates([pki.root])
        try await withTransport({ $0.securityPolicy = .systemTrust(anchors: anchors) }) { transport in
            let (observer, size) = (LastWrite(), 64 * 1024 * 1024)
            let error = await failure { () async throws(TransportError) in
                try await transport.send(
                    server.request(
                        .put, body: kind.body(size), timeouts: TransportTimeouts(idleRead: .zero, idleWrite: idle)),
                    observer: observer)
            }
            let (last, waited) = (observer.last, ContinuousClock.now - observer.last.time)
            #expect(error?.code == .writeTimeout)
            // The content of the buffers of two sockets, in several steps, without the bytes that wait in memory.
            #expect((1..<size / 2).contains(last.bytes))
            #expect(last.steps > 1)
            #expect(waited >= idle - .milliseconds(20))
            #expect(waited < idle + .seconds(2))
        }
        await server.shutdown()
    }
}

private func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
}

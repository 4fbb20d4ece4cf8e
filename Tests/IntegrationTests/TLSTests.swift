import FoundationEssentials
import Linnet
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct TLSTests {
    @Test(arguments: Surface.allCases)
    func theOwnRootIsTrustedOverTLS13(surface: Surface) async throws {
        try await Server.tls.withSession { session in
            let response = try await surface.data("bytes-64k", on: session)
            #expect(response.value == ServedFile.middle.bytes)
            let metrics = try #require(response.metrics.last)
            #expect(metrics.tlsVersion == "TLSv1.3")
            #expect(metrics.tlsCipher?.hasPrefix("TLS_") == true)
            #expect(metrics.tlsHandshake != nil)
            #expect(!metrics.isPinned)
            #expect(metrics.verifiedPins.count == 3)
            #expect(try metrics.verifiedPins.first == Environment.pin.description)
        }
    }

    @Test func aLargeBodyComesWholeOverTLS() async throws {
        try await Server.tls.withSession { session in
            let response = try await session.get("bytes-10m").response()
            #expect(response.value == ServedFile.large.bytes)
        }
    }

    @Test func aServerWithTLS12OnlyIsSpokenTo() async throws {
        try await Server.tls12.withSession { session in
            let response = try await session.get("1k").response()
            #expect(response.value == ServedFile.small.bytes)
            #expect(response.metrics.last?.tlsVersion == "TLSv1.2")
        }
    }

    @Test func theHighestVersionIsKept() async throws {
        try await Server.tls.withSession {
            $0.tls.maximumVersion = .tls12
        } run: { session in
            let response = try await session.get("1k").response()
            #expect(response.metrics.last?.tlsVersion == "TLSv1.2")
        }
    }

    @Test(arguments: Surface.allCases)
    func theLowestVersionIsKept(surface: Surface) async throws {
        try await Server.tls12.withSession {
            $0.tls.minimumVersion = .tls13
        } run: { session in
            let error = await #expect(throws: SessionError.self) { try await surface.data("1k", on: session) }
            #expect(error?.code == .tlsFailed)
        }
    }

    @Test func theSecondRequestNeedsNoHandshake() async throws {
        try await Server.tls.withSession { session in
            let first = try await session.get("1k").response()
            let second = try await session.get("1k").response()
            #expect(try ServedBy(second).connection == ServedBy(first).connection)
            #expect(second.metrics.last?.isReusedConnection == true)
            #expect(second.metrics.last?.tlsHandshake == nil)
            #expect(second.metrics.last?.tlsVersion == "TLSv1.3")
        }
    }

    @Test func anAddressOfTheCertificateIsTrusted() async throws {
        try await Server.tls.withSession(baseURL: Server.tls.url(host: "127.0.0.1")) { session in
            let response = try await session.get("1k").response()
            #expect(response.value == ServedFile.small.bytes)
        }
    }

    @Test func plainHTTPOnATLSPortIsAnswered() async throws {
        // nginx knows the mistake, and answers it in plain text.
        try await Server.tls.withSession(baseURL: Server.tls.url(scheme: "http", host: "127.0.0.1")) { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response(JSONResponseSerializer())
            }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.head?.status == .badRequest)
        }
    }

    @Test func tlsOnAPlainPortFails() async throws {
        try await Server.plain.withSession(baseURL: Server.plain.url(scheme: "https")) { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response(JSONResponseSerializer())
            }
            #expect(error?.code == .tlsFailed)
        }
    }
}

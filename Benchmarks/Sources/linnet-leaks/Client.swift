import BenchMemory
import Foundation
import Linnet

/// A session for the server, and the bodies that the exchanges send.
struct Client: Sendable {
    let session: HTTPSession
    let base: URL
    let wire: Wire
    let anchors: TrustAnchors
    let upload = Data(repeating: 0x61, count: 64 * 1024)

    init(_ server: ServerProcess, _ wire: Wire) throws {
        base = server.base
        self.wire = wire
        anchors = server.anchors
        session = try HTTPSession(baseURL: server.base, configuration: Self.configuration(wire, server.anchors))
    }

    static func configuration(_ wire: Wire, _ anchors: TrustAnchors) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        // A policy with custom anchors refuses clear text.
        if wire == .tls { configuration.securityPolicy = .systemTrust(anchors: anchors) }
        configuration.httpVersions = wire == .h2 ? .http2 : .http1
        return configuration
    }

    func request(_ path: String, _ configure: (inout SessionRequest) -> Void = { _ in }) throws -> SessionRequest {
        var request = SessionRequest(url: base.appending(path: path))
        configure(&request)
        return request
    }

    /// The file of a worker.
    func file(_ worker: Int) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "linnet-leaks-\(getpid())-\(worker)")
    }
}

func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw Failure(what()) }
}

/// Runs an operation that must fail with one of these codes.
func expectFailure<Value>(_ codes: SessionError.Code..., of work: () async throws -> Value) async throws {
    do {
        _ = try await work()
    } catch let error as SessionError where codes.contains(error.code) {
        return
    }
    throw Failure("It did not fail.")
}

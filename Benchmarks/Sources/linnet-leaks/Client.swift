import Foundation
import Linnet

/// A session that talks to the server, and what the exchanges send.
struct Client: Sendable {
    let session: Session
    let http: HTTPSession
    let base: URL
    let wire: Wire
    let anchors: TrustAnchors
    let upload = Data(repeating: 0x61, count: 64 * 1024)

    init(_ server: ServerProcess, _ wire: Wire) throws {
        base = server.base
        self.wire = wire
        anchors = server.anchors
        http = try HTTPSession(baseURL: server.base, configuration: Self.configuration(wire, server.anchors))
        session = http.session
    }

    static func configuration(_ wire: Wire, _ anchors: TrustAnchors) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        // Anchors of one's own refuse clear text.
        if wire == .tls { configuration.securityPolicy = .systemTrust(anchors: anchors) }
        configuration.httpVersions = wire == .h2 ? .http2 : .http1
        return configuration
    }

    func request(_ path: String, _ configure: (inout Request) -> Void = { _ in }) throws -> Request {
        var request = Request(url: base.appending(path: path))
        configure(&request)
        return request
    }

    /// A file for each worker.
    func file(_ worker: Int) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "linnet-leaks-\(getpid())-\(worker)")
    }
}

func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw Failure(what()) }
}

/// Runs what has to fail with one of these codes.
func expectFailure<Value>(_ codes: SessionError.Code..., of work: () async throws -> Value) async throws {
    do {
        _ = try await work()
    } catch let error as SessionError where codes.contains(error.code) {
        return
    }
    throw Failure("It did not fail.")
}

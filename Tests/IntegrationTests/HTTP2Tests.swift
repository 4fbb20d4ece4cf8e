import FoundationEssentials
import Linnet
import LinnetTesting
import LinnetTransport
import Testing

/// HTTP/2 against nginx and nghttpd.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(5)))
struct HTTP2Tests {
    @Test(arguments: Server.allHTTP2, Surface.allCases)
    func aFileIsReceivedOverHTTP2(server: Server, surface: Surface) async throws {
        try await server.withHTTP2Session { session in
            let response = try await surface.data("1k", on: session)
            #expect(response.status == .ok)
            #expect(response.value == ServedFile.small.bytes)
            let metrics = try #require(response.metrics.last)
            #expect(metrics.httpVersion == "h2")
            #expect(metrics.responseBodyBytes == Int64(ServedFile.small.size))
        }
    }

    @Test(arguments: [(Server.http2, "TLSv1.3"), (.http2TLS12, "TLSv1.2"), (.nghttpd, "TLSv1.3")])
    func alpnChoosesHTTP2WithEitherTLSVersion(server: Server, version: String) async throws {
        try await server.withHTTP2Session { session in
            let response = try await session.get("1k").response()
            #expect(response.metrics.last?.httpVersion == "h2")
            #expect(response.metrics.last?.tlsVersion == version)
        }
    }

    @Test(arguments: [Server.tls, .tls12])
    func aServerWithoutHTTP2IsUsedWithHTTP1(server: Server) async throws {
        try await server.withSession {
            $0.httpVersions = .automatic
        } run: { session in
            let response = try await session.get("1k").response()
            #expect(response.value == ServedFile.small.bytes)
            #expect(response.metrics.last?.httpVersion == "http/1.1")
        }
    }

    @Test func aClientRestrictedToHTTP1UsesItOnAServerWithBothVersions() async throws {
        try await Server.http2.withSession {
            $0.httpVersions = .http1
        } run: { session in
            let response = try await session.get("echo").response(JSONResponseSerializer())
            #expect(response.metrics.last?.httpVersion == "http/1.1")
            #expect(response.value?["protocol"] == "HTTP/1.1")
        }
    }

    @Test func aClientRestrictedToHTTP2FailsOnAServerWithoutIt() async throws {
        try await Server.tls.withSession {
            $0.httpVersions = .http2
        } run: { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response()
            }
            #expect(error?.code != .cancelled)
        }
    }

    @Test(arguments: Verb.allCases, Server.nginxHTTP2)
    func verbsAndFieldsArrive(verb: Verb, server: Server) async throws {
        try await server.withHTTP2Session { session in
            let response = try await Surface.awaited.send(
                verb, "echo", on: session, parameters: ["number": 7], headers: [.xMarker: "it is \(verb.rawValue)"])
            #expect(response.value?["method"] == .string(verb.rawValue.uppercased()))
            #expect(response.value?["marker"] == .string("it is \(verb.rawValue)"))
            #expect(response.value?["protocol"] == "HTTP/2.0")
            #expect(response.value?["uri"] == (verb.hasQuery ? "/echo?number=7" : "/echo"))
            if !verb.hasQuery { #expect(response.value?["contentLength"] == "8") }
        }
    }

    @Test(arguments: Server.allHTTP2)
    func headHasNoBodyAndLaterStreamsSucceed(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let head = try await session.head("bytes-10m").response()
            #expect(head.head.headerFields[.contentLength] == String(ServedFile.large.size))
            #expect(head.value.isEmpty)
            let next = try await session.get("1k").response()
            #expect(next.value == ServedFile.small.bytes)
            #expect(next.metrics.last?.isReusedConnection == true)
        }
    }

    @Test(arguments: Server.allHTTP2)
    func anErrorPageFailsWithItsStatusAndBody(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("absent").response()
            }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.head?.status == .notFound)
            #expect(error?.body.map { String(decoding: $0, as: UTF8.self) }?.contains("<html>") == true)
        }
    }

    @Test func aResponseWithoutContentIsComplete() async throws {
        try await Server.http2.withHTTP2Session { session in
            let response = try await session.get("empty").response(JSONResponseSerializer())
            #expect(response.status == .noContent)
            #expect(response.value == nil)
        }
    }

    @Test(arguments: [Server.nghttpd, .nghttpdPlain], [ServedFile.middle, .large])
    func trailersAreAvailableAfterTheBody(server: Server, file: ServedFile) async throws {
        let sum = try #require(HTTPField.Name("x-sum"))
        try await server.withHTTP2Session { session in
            let response = try await session.get(file.path).bytes()
            #expect(try await response.body.collect(upTo: file.size) == file.bytes)
            #expect(response.trailers?[sum] == "1")
        }
    }

    // MARK: Large bodies

    @Test(arguments: Server.allHTTP2)
    func aLargeBodyIsReceivedCompletely(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let response = try await session.get("bytes-10m").response()
            #expect(response.value == ServedFile.large.bytes)
            #expect(response.metrics.last?.responseBodyBytes == Int64(ServedFile.large.size))
        }
    }

    @Test(arguments: Server.nginxHTTP2)
    func aLargeBodyArrivesWhole(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let size = ServedFile.large.size
            let task = session.call(SessionRequest(url: try session.url(for: "upload"), method: .post)).body(
                .data(ServedFile.large.bytes)
            ).task(StringResponseSerializer())
            task.resume()
            let response = try await task.value
            #expect(response.value == "\(size)\n")
            #expect(response.metrics.last?.httpVersion == "h2")
            #expect(response.metrics.last?.requestBodyBytes == Int64(size))
        }
    }

    @Test(arguments: [Server.nghttpd, .nghttpdPlain])
    func aLargeBodyIsEchoedUnchanged(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let task = session.call(SessionRequest(url: try session.url(for: "back"), method: .post)).body(
                .data(ServedFile.large.bytes)
            ).task(DataResponseSerializer())
            task.resume()
            let response = try await task.value
            #expect(response.value == ServedFile.large.bytes)
        }
    }

    @Test(arguments: [Server.http2, .http2Plain])
    func aRefusalBeforeTheEndOfTheBodyIsTheResponse(server: Server) async throws {
        try await server.withHTTP2Session { session in
            let task = session.call(SessionRequest(url: try session.url(for: "upload-refused"), method: .post)).body(
                .data(ServedFile.large.bytes)
            ).task(DataResponseSerializer())
            task.resume()
            let error = await #expect(throws: SessionError.self) { try await task.value }
            #expect(error?.head?.status.code == 413)
            let next = try await session.get("1k").response()
            #expect(next.value == ServedFile.small.bytes)
        }
    }
}

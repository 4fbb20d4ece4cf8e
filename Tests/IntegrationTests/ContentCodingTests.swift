import CommandSupport
import FoundationEssentials
import Linnet
import LinnetBrotli
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct ContentCodingTests {
    private struct Coded: Decodable, Sendable {
        let headers: [String: String]
        var gzipped: Bool?
        var deflated: Bool?
        var brotli: Bool?
    }

    @Test func httpbinsCodingsAreDecoded() async throws {
        try await Server.httpbin.withSession {
            $0.contentCodings = [.brotli, .gzip, .deflate]
        } run: { session in
            for (path, coding) in [("gzip", ContentCoding.gzip), ("deflate", .deflate), ("brotli", .brotli)] {
                let response = try await session.get(path).response(as: Coded.self)
                #expect(response.contentCodings == [coding])
                #expect(response.value.headers["Accept-Encoding"] == "br, gzip, deflate")
                #expect([response.value.gzipped, response.value.deflated, response.value.brotli].contains(true))
                #expect(response.head.headerFields[.contentEncoding] == nil)
                #expect(response.metrics.last?.responseBodyBytes != Int64(response.data.count))
            }
        }
    }

    @Test func httpbinsUnknownCodingIsAnErrorWithTheBody() async throws {
        try await Server.httpbin.withSession { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("brotli").response(as: Coded.self)
            }
            #expect(error?.code == .contentDecodingFailed)
            let body = try ContentCoding.brotli.decoded(error?.body ?? Data())
            #expect(body.starts(with: Data("{".utf8)))
        }
    }

    @Test(arguments: [Server.plain, .tls], Surface.allCases)
    func nginxCompressesWhileItSends(server: Server, surface: Surface) async throws {
        try await server.withSession { session in
            let plain = try await session.get("json").response()
            let coded = try await surface.data("coded", on: session)
            #expect(plain.contentCodings.isEmpty && coded.contentCodings == [.gzip])
            #expect(coded.value == plain.value)
            #expect(coded.head.headerFields[.vary] == "Accept-Encoding")
            let received = coded.metrics.last?.responseBodyBytes ?? 0
            #expect(received > 0 && received < plain.value.count / 2)
            let own = try await session.get("coded").header(.acceptEncoding, "identity").response()
            #expect(own.contentCodings.isEmpty && own.value == plain.value)
        }
    }

    @Test func nginxsCodedResponsesAreStoredAndValidated() async throws {
        try await Server.plain.withSession {
            $0.cacheStore = MemoryCacheStore(limit: 64 << 20)
        } run: { session in
            var outcomes: [String] = []
            var bodies: Set<Data> = []
            for policy in [nil, nil, .revalidate] as [RequestOptions.CachePolicy?] {
                let response = try await session.get("coded").options { $0.cachePolicy = policy }.response()
                outcomes.append(response.cacheOutcome?.description ?? "none")
                bodies.insert(response.value)
                #expect(response.contentCodings == [.gzip])
            }
            #expect(outcomes == ["miss", "hit", "revalidated"])
            #expect(bodies.count == 1)
        }
    }

    @Test func curlReceivesTheSame() async throws {
        try await Server.plain.withSession { session in
            let response = try await session.get("coded").response()
            let command = try session.get("coded").curlDescription(redaction: .insecureShowEverything)
            let curl = try await Command.run(["sh", "-c", command + " --silent"])
            #expect(curl.status == 0 && curl.output == response.value)
        }
    }
}

import CommandSupport
import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetTesting
import Synchronization

/// The servers of the table, and the files that its commands read.
struct CurlServers {
    private static let file = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    private static let compressed = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ5wIAIDA6NgYAAAA=") ?? Data()

    let pki: TestPKI
    let identity: TestPKI.Identity

    init() throws {
        pki = try TestPKI()
        identity = try pki.identity()
    }

    /// Runs a closure while the servers run.
    ///
    /// - Parameters:
    ///   - socket: The path of the unix socket.
    ///   - perform: Receives a function that puts the servers' ports into a command.
    func run(socket: String, _ perform: (@Sendable (String) -> String) async throws -> Void) async throws {
        let flaky = Mutex<Set<String>>([])
        let handler: MockServer.Handler = { request in
            request.path == "/flaky" ? Self.flaky(request, flaky) : Self.answer(request)
        }
        var http2 = MockServer.Configuration()
        http2.httpVersions = .http2
        var secure = MockServer.Configuration()
        secure.clientCertificates = .requested(issuedBy: [pki.root, pki.intermediate])
        var local = MockServer.Configuration()
        local.unixSocket = socket
        try await withMockServer(handler: handler) { plain in
            try await withMockServer(tls: identity, configuration: secure, handler: handler) { tls in
                try await withMockServer(configuration: http2, handler: handler) { second in
                    try await withMockServer(configuration: local, handler: handler) { _ in
                        let proxy = try await FaultProxy.start(forwardingTo: plain.port)
                        let ports = [8080: plain.port, 8443: tls.port, 8081: second.port, 3128: proxy.port]
                        try await perform { command in
                            ports.reduce(command) { $0.replacing(":\($1.key)", with: ":\($1.value)") }
                        }
                        await proxy.shutdown()
                    }
                }
            }
        }
    }

    /// Writes the files that the commands read.
    func writeFiles(to folder: Scratch) throws {
        let client = try pki.clientIdentity()
        _ = try folder.write("root.pem", pki.rootPEM)
        _ = try folder.write("client.pem", client.certificateChainPEM)
        _ = try folder.write("client.key", client.privateKeyPEM)
        _ = try folder.write("post.json", #"{"text": "hello"}"#)
        _ = try folder.write("a.jpg", "a picture")
    }

    // MARK: Answers

    private static func answer(_ request: RecordedRequest) -> MockResponse {
        // A proxy forwards the target as it was sent to it.
        switch request.path.replacing("http://linnet.test", with: "") {
        case "/posts": .json(#"[{"id": 1, "text": "hello"}]"#)
        case "/echo": .text(echo(request))
        case "/upload": .text("\(request.method) \(request.bodyText)\n")
        case "/form": .text(form(request))
        case "/moved": .redirect(to: "/posts")
        case "/file.bin": part(request)
        case "/gzip": MockResponse(headerFields: [.contentEncoding: "gzip"], body: .bytes(compressed))
        case "/cookie": MockResponse(headerFields: [.setCookie: "a=1; Max-Age=1000"], body: .text("stored\n"))
        case "/slow": .text("late").delayed(by: .seconds(60))
        case "/who": .text("\(request.clientCertificate?.subject ?? "no certificate")\n")
        case "/events": .events([.init("one\ntwo"), .init("three")])
        default: .text("no such page\n", status: .notFound)
        }
    }

    /// The first request of each client fails.
    private static func flaky(_ request: RecordedRequest, _ seen: borrowing Mutex<Set<String>>) -> MockResponse {
        let isFirst = seen.withLock { $0.insert(request.headerFields[.userAgent] ?? "").inserted }
        return isFirst ? .text("later\n", status: .serviceUnavailable) : .text("now\n")
    }

    private static func echo(_ request: RecordedRequest) -> String {
        let query = request.query?.replacing("+", with: " ").replacing("%20", with: " ")
        let fields = ["X-Key", "Content-Type", "Authorization", "Cookie"].compactMap { HTTPField.Name($0) }
        let lines = fields.compactMap { name in request.headerFields[name].map { "\(name): \($0)" } }
        return (["\(request.method) \(request.path) \(query ?? "")"] + lines + ["", request.bodyText, ""])
            .joined(separator: "\n")
    }

    /// The parts of a form, without the boundary.
    private static func form(_ request: RecordedRequest) -> String {
        let type = request.headerFields[.contentType] ?? ""
        let boundary = type.split(separator: "boundary=").last.map(String.init) ?? ""
        return request.bodyText.replacing(boundary.filter { $0 != "\"" }, with: "BOUNDARY")
    }

    private static func part(_ request: RecordedRequest) -> MockResponse {
        let fields: HTTPFields = [.eTag: "\"v1\"", .acceptRanges: "bytes"]
        if request.headerFields[.ifNoneMatch] == "\"v1\"" {
            return MockResponse(status: .notModified, headerFields: fields)
        }
        guard request.headerFields[.range] == "bytes=0-9" else {
            return MockResponse(headerFields: fields, body: .bytes(file))
        }
        var response = MockResponse(status: .partialContent, headerFields: fields, body: .bytes(file.prefix(10)))
        response.headerFields[.contentRange] = "bytes 0-9/\(file.count)"
        return response
    }
}

import FoundationEssentials
import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization

/// A proxy for one test: HTTP and SOCKS on one port, told apart by the first byte. It shares no code with the client.
///
/// Names below `test` are connected to at 127.0.0.1.
final class TestProxy: Sendable {
    struct Login: Sendable {
        var username = "ada"
        var password = "love:lace"
        /// Whether a challenge closes the connection.
        var closes = true

        var basic: String { "Basic " + Data("\(username):\(password)".utf8).base64EncodedString() }
    }

    /// A client's request.
    struct Record: Sendable, Equatable {
        /// The request line of HTTP; `socks5 host:port` or `socks4 host:port user`.
        var line: String
        /// The value of Proxy-Authorization.
        var authorization: String?
        /// The number of the connection, counted from 0.
        var connection: Int
    }

    /// A client that did not speak the protocol.
    private struct ProtocolError: Error {}

    private let login: Login?
    /// The status of the answer to CONNECT, with its page; nil to connect.
    private let refusal: String?
    private let records = Mutex<[Record]>([])

    init(_ login: Login? = nil, refusal: String? = nil) {
        self.login = login
        self.refusal = refusal
    }

    var log: [Record] { records.withLock { $0 } }
    var lines: [String] { log.map(\.line) }

    /// Runs the proxy.
    func run(
        tls identity: TestPKI.Identity? = nil, perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration { $0.hostName = identity == nil ? "127.0.0.1" : "localhost" }
        let server = try await MockServer.startRaw(tls: identity, configuration: configuration) { connection in
            try await self.serve(connection)
        }
        do {
            try await perform(server)
            await server.shutdown()
        } catch {
            await server.shutdown()
            throw error
        }
    }

    private func note(_ line: String, _ authorization: String? = nil, _ connection: RawConnection) {
        records.withLock { $0.append(Record(line: line, authorization: authorization, connection: connection.index)) }
    }

    private func serve(_ connection: RawConnection) async throws {
        var reader = Reader(connection)
        switch try await reader.peek() {
        case 5: try await serveSOCKS5(connection, &reader)
        case 4: try await serveSOCKS4(connection, &reader)
        default: while try await serveHTTP(connection, &reader) {}
        }
    }

    // MARK: HTTP

    /// Serves one request. Returns whether another may follow.
    private func serveHTTP(_ connection: RawConnection, _ reader: inout Reader) async throws -> Bool {
        let lines = try await reader.head().components(separatedBy: "\r\n")
        let parts = lines[0].components(separatedBy: " ")
        let fields = lines.dropFirst().filter { !$0.isEmpty }
        func value(_ name: String) -> String? {
            fields.first { $0.lowercased().hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        note(lines[0], value("proxy-authorization"), connection)
        var body = Data()
        func readBody() async throws {
            if let length = value("content-length").flatMap({ Int($0) }) {
                body = try await reader.bytes(length)
            } else if value("transfer-encoding") != nil {
                while !body.suffix(5).elementsEqual("0\r\n\r\n".utf8) { body += try await reader.bytes(1) }
            }
        }
        if value("expect") == nil { try await readBody() }
        if let login, value("proxy-authorization") != login.basic {
            let close = login.closes ? "Connection: close\r\n" : ""
            let challenge = "Proxy-Authenticate: Newauth realm=\"apps\"\r\nProxy-Authenticate: Basic realm=\"p\"\r\n"
            try await connection.write(
                "HTTP/1.1 407 Proxy Authentication Required\r\n\(challenge)\(close)Content-Length: 5\r\n\r\nnope\n")
            return !login.closes
        }
        if parts[0] == "CONNECT" {
            if let refusal {
                try await connection.write(refusal)
                return false
            }
            let place = try Self.place(parts[1])
            try await Self.tunnel(connection, reader.rest(), to: place) {
                "HTTP/1.1 200 Connection established\r\n\r\n"
            }
            return false
        }
        guard parts[1].hasPrefix("http://") else { throw ProtocolError() }
        let rest = parts[1].dropFirst(7)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        if value("expect") != nil {
            try await connection.write("HTTP/1.1 100 Continue\r\n\r\n")
            try await readBody()
        }
        let kept = fields.filter { field in
            !["proxy-authorization:", "connection:", "expect:"].contains { field.lowercased().hasPrefix($0) }
        }
        let head = ["\(parts[0]) \(rest[slash...]) HTTP/1.1"] + kept + ["Connection: close", "", ""]
        let place = try Self.place(String(rest[..<slash]))
        let answer = try await Self.exchange(Data(head.joined(separator: "\r\n").utf8) + body, with: place)
        let text = String(decoding: answer, as: UTF8.self)
        try await connection.write(
            text.replacing("Connection: close\r\n", with: "").replacing("connection: close\r\n", with: ""))
        return true
    }

    // MARK: SOCKS

    private func serveSOCKS5(_ connection: RawConnection, _ reader: inout Reader) async throws {
        let count = try await reader.bytes(2)[1]
        let methods = try await reader.bytes(Int(count))
        if let login {
            guard methods.contains(2) else { return try await connection.write(Data([5, 0xFF])) }
            try await connection.write(Data([5, 2]))
            let user = try await reader.bytes(Int(reader.bytes(2)[1]))
            let password = try await reader.bytes(Int(reader.bytes(1)[0]))
            let isRight = user.elementsEqual(login.username.utf8) && password.elementsEqual(login.password.utf8)
            try await connection.write(Data([1, isRight ? 0 : 1]))
            guard isRight else { return }
        } else {
            try await connection.write(Data([5, 0]))
        }
        let type = try await reader.bytes(4)[3]
        let host: String
        switch type {
        case 1: host = try await reader.bytes(4).map(String.init).joined(separator: ".")
        case 3: host = String(decoding: try await reader.bytes(Int(reader.bytes(1)[0])), as: UTF8.self)
        default:
            let groups = try await reader.bytes(16)
            host = groups == Data(repeating: 0, count: 15) + [1] ? "::1" : "other"
        }
        let port = try await reader.port()
        note("socks5 \(host):\(port)", nil, connection)
        if refusal != nil { return try await connection.write(Data([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])) }
        try await Self.tunnel(connection, reader.rest(), to: (host, port)) {
            String(decoding: [5, 0, 0, 1, 127, 0, 0, 1, 0, 80] as [UInt8], as: UTF8.self)
        }
    }

    private func serveSOCKS4(_ connection: RawConnection, _ reader: inout Reader) async throws {
        _ = try await reader.bytes(2)
        let port = try await reader.port()
        let address = try await reader.bytes(4)
        let user = try await reader.text()
        let isName = address.prefix(3) == Data([0, 0, 0])
        let host = isName ? try await reader.text() : address.map(String.init).joined(separator: ".")
        note("socks4 \(host):\(port) \(user)", nil, connection)
        if refusal != nil { return try await connection.write(Data([0, 91, 0, 0, 0, 0, 0, 0])) }
        try await Self.tunnel(connection, reader.rest(), to: (host, port)) {
            String(decoding: [0, 90, 0, 0, 0, 0, 0, 0] as [UInt8], as: UTF8.self)
        }
    }

    // MARK: The other side

    private static func place(_ authority: String) throws -> (host: String, port: Int) {
        guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[authority.index(after: colon)...])
        else { throw ProtocolError() }
        return (String(authority[..<colon]), port)
    }

    private static func connect(
        _ place: (host: String, port: Int)
    ) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let host = place.host.hasSuffix(".test") ? "127.0.0.1" : place.host
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: host, port: place.port) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
            }
    }

    private static func exchange(_ bytes: Data, with place: (host: String, port: Int)) async throws -> Data {
        try await connect(place).executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: bytes))
            var answer = Data()
            for try await part in inbound { answer.append(contentsOf: part.readableBytesView) }
            return answer
        }
    }

    /// Passes bytes in both directions until one side ends.
    private static func tunnel(
        _ connection: RawConnection, _ first: Data, to place: (host: String, port: Int), answer: () -> String
    ) async throws {
        let channel = try await connect(place)
        let answer = answer()
        try await channel.executeThenClose { inbound, outbound in
            try await connection.write(answer)
            if !first.isEmpty { try await outbound.write(ByteBuffer(bytes: first)) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while let bytes = try await connection.read() { try await outbound.write(ByteBuffer(bytes: bytes)) }
                }
                group.addTask {
                    for try await bytes in inbound { try await connection.write(Data(bytes.readableBytesView)) }
                }
                _ = try await group.next()
                group.cancelAll()
            }
        }
    }
}

/// Reads a connection in pieces of given sizes.
private struct Reader {
    private struct Ended: Error {}

    private let connection: RawConnection
    private var buffer = Data()

    init(_ connection: RawConnection) {
        self.connection = connection
    }

    private mutating func fill() async throws {
        guard let more = try await connection.read() else { throw Ended() }
        buffer += more
    }

    mutating func peek() async throws -> UInt8 {
        while buffer.isEmpty { try await fill() }
        return buffer[buffer.startIndex]
    }

    mutating func bytes(_ count: Int) async throws -> Data {
        while buffer.count < count { try await fill() }
        defer { buffer = Data(buffer.dropFirst(count)) }
        return Data(buffer.prefix(count))
    }

    mutating func port() async throws -> Int {
        let bytes = try await bytes(2)
        return Int(bytes[0]) << 8 | Int(bytes[1])
    }

    /// The text up to a null byte.
    mutating func text() async throws -> String {
        var text: [UInt8] = []
        while case let byte = try await bytes(1)[0], byte != 0 { text.append(byte) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The head of a request, with its empty line.
    mutating func head() async throws -> String {
        var head = Data()
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try await bytes(1) }
        return String(decoding: head, as: UTF8.self)
    }

    mutating func rest() -> Data {
        defer { buffer = Data() }
        return buffer
    }
}

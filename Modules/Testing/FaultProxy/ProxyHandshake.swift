internal import FoundationEssentials

/// Reads where a client wants to be connected to, by the CONNECT method or SOCKS5.
struct ProxyHandshake {
    private let connection: RawConnection
    private var buffer = Data()

    init(_ connection: RawConnection) {
        self.connection = connection
    }

    /// Reads the client's request, and connects it.
    ///
    /// - Parameter connect: Gets the destination, and the answer that the client waits for.
    mutating func run(connect: (ProxyLink.Destination, Data) async throws -> Void) async throws {
        if try await bytes(1, keeping: true)[0] == 5 {
            guard let destination = try await readSOCKS() else { return }
            try await connect(destination, Data([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
        } else {
            guard let destination = try await readHTTP() else { return }
            try await connect(destination, Data("HTTP/1.1 200 Connection established\r\n\r\n".utf8))
        }
    }

    /// RFC 1928, 3 and 4. Returns nil after an answer that refuses.
    private mutating func readSOCKS() async throws -> ProxyLink.Destination? {
        let methods = Int(try await bytes(2)[1])
        guard try await bytes(methods).contains(0) else {
            try await connection.write(Data([5, 0xFF]))
            return nil
        }
        try await connection.write(Data([5, 0]))
        let request = try await bytes(4)
        let host: String
        switch (request[1], request[3]) {
        case (1, 1): host = try await bytes(4).map(String.init).joined(separator: ".")
        case (1, 3): host = String(decoding: try await bytes(Int(bytes(1)[0])), as: UTF8.self)
        default:
            // No other command and no IPv6: the destination is 127.0.0.1 or has a name.
            try await connection.write(Data([5, request[1] == 1 ? 8 : 7, 0, 1, 0, 0, 0, 0, 0, 0]))
            return nil
        }
        let port = try await bytes(2)
        return ProxyLink.Destination(host: host, port: Int(port[0]) << 8 | Int(port[1]))
    }

    /// RFC 9110, 9.3.6. Returns nil after an answer that refuses.
    private mutating func readHTTP() async throws -> ProxyLink.Destination? {
        var head = Data()
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard head.count < 65_536 else { return nil }
            head += try await bytes(1)
        }
        let words = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == "CONNECT", let colon = words[1].lastIndex(of: ":"),
            let port = Int(words[1][words[1].index(after: colon)...])
        else {
            try await connection.write(
                "HTTP/1.1 405 Method Not Allowed\r\nAllow: CONNECT\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return nil
        }
        return ProxyLink.Destination(host: String(words[1][..<colon]), port: port)
    }

    /// A client sends nothing behind its request before the answer, so that nothing is left over.
    private mutating func bytes(_ count: Int, keeping: Bool = false) async throws -> Data {
        while buffer.count < count {
            guard let more = try await connection.read() else {
                throw TestingError(.connectionClosed, "The client closed the connection in the proxy's handshake.")
            }
            buffer += more
        }
        let bytes = Data(buffer.prefix(count))
        if !keeping { buffer = Data(buffer.dropFirst(count)) }
        return bytes
    }
}

internal import HTTPTypes
internal import LinnetMessages
internal import NIOCore

/// Writes a request head, and rejects invalid heads (RFC 9112, 3 and 5).
struct HTTP1RequestWriter {
    /// The framing of the body (RFC 9112, 6).
    enum Framing {
        case none
        case length(Int64)
        case chunked
    }

    let framing: Framing
    /// Set by the fields while they are written.
    private(set) var (asksToClose, expectsContinue) = (false, false)
    private let target: RequestLine
    /// The target of the request line: the path, or the URI for a proxy (RFC 9112, 3.2.2).
    private let uri: String
    /// The request's answer to its forwarding proxy; nil if the origin receives the request. Without an authorization
    /// the request's own is written, if any. The body of a request that may be challenged waits: it could be readable
    /// only once, and squid does not read the rest of a body behind its challenge.
    let proxyAnswer: Boxed<ProxyAnswer>?
    private let head: HTTPRequest
    /// Whether there is a body that is not known to be empty.
    private let hasContent: Bool
    private let upgrade: ProtocolUpgrade?

    /// - Parameters:
    ///   - exchange: The exchange of the request.
    ///   - proxy: The proxy that forwards the request; nil if the origin receives it.
    init(_ exchange: HTTPExchange, through proxy: ProxyServer? = nil) throws(TransportError) {
        head = exchange.request.head
        let body = exchange.request.body
        hasContent = body.hasContent
        upgrade = exchange.request.upgrade
        target = try RequestLine(head)
        if let proxy {
            // Anything else would become part of the authority.
            guard target.path == "*" || target.path.utf8.first == UInt8(ascii: "/") else {
                throw TransportError(
                    .invalidRequest, "The request's path must begin with a slash to be sent to a proxy.")
            }
            // `*` has no absolute form (RFC 9112, 3.2.4).
            uri = "http://" + target.authority + (target.path == "*" ? "" : target.path)
            var answer = proxy.authenticator.answer(method: head.method.rawValue, uri: uri, body: body)
            // The request's own Expect is the caller's, who gets the response to it.
            if !exchange.mayAskProxyFirst || !hasContent || head.headerFields[.expect] != nil {
                answer.asksFirst = false
            }
            proxyAnswer = Boxed(answer)
        } else {
            (uri, proxyAnswer) = (target.path, nil)
        }
        if let length = body.contentLength(for: head.method) {
            framing = .length(length)
        } else {
            framing = body == nil ? .none : .chunked
        }
    }

    /// Writes the head: `Host` first, then the request's fields, then the framing fields. Nothing is written if it
    /// throws.
    mutating func write(to buffer: inout ByteBuffer) throws(TransportError) {
        let start = buffer.writerIndex
        // An estimate for typical fields, because measuring them costs nearly as much as writing them.
        let guess = uri.utf8.count + target.authority.utf8.count + 128 + 96 * head.headerFields.count + proxyBytes
        guard try !write(to: &buffer, room: guess) else { return }
        buffer.moveWriterIndex(to: start)
        guard try write(to: &buffer, room: mostBytes) else {
            buffer.moveWriterIndex(to: start)
            throw TransportError(.invalidRequest, "The request head changed while it was written.")
        }
    }

    /// Returns false if the head is larger than the room.
    private mutating func write(to buffer: inout ByteBuffer, room: Int) throws(TransportError) -> Bool {
        let start = buffer.writerIndex
        (asksToClose, expectsContinue) = (false, false)
        var (isClean, isFull) = (true, false)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { bytes in
            var writer = ByteWriter(bytes)
            writer.write(head.method.rawValue)
            writer.write(" ")
            writer.write(uri)
            writer.write(" HTTP/1.1\r\nHost: ")
            writer.write(target.authority)
            for field in head.headerFields where isKept(field) { isClean = writer.write(field) && isClean }
            if let authorization = proxyAnswer?.value.authorization {
                writer.write("\r\nProxy-Authorization: ")
                writer.write(isoLatin1: authorization)
            }
            if proxyAnswer?.value.asksFirst == true {
                writer.write("\r\nExpect: 100-continue")
                expectsContinue = true
            }
            if let upgrade {
                writer.write("\r\nConnection: Upgrade\r\nUpgrade: ")
                writer.write(upgrade.name)
            }
            switch framing {
            case .none: break
            case .length(let length):
                writer.write("\r\nContent-Length: ")
                writer.write(String(length))
            case .chunked: writer.write("\r\nTransfer-Encoding: chunked")
            }
            writer.write("\r\n\r\n")
            isFull = writer.isFull
            return writer.count
        }
        guard isClean else {
            buffer.moveWriterIndex(to: start)
            throw TransportError(.invalidRequest, "A field value contains invalid characters.")
        }
        return !isFull
    }

    /// Whether `close` is one of the options of a Connection field (RFC 9110, section 7.6.1).
    private static func asksToClose(_ value: String) -> Bool {
        var scanner = FieldScanner(value)
        while !scanner.isAtEnd {
            scanner.until(ASCII.isToken)
            if String(decoding: scanner.token(), as: UTF8.self).lowercased() == "close" { return true }
        }
        return false
    }

    /// Records the meaning of a field for the message, and returns whether it is written: not if the transport writes
    /// it, for routing and framing, and not if it describes content of a request without content (RFC 9110, 10.1.1).
    private mutating func isKept(_ field: HTTPField) -> Bool {
        let name = field.name.canonicalName
        // The lengths tell most names apart.
        switch name.utf8.count {
        case 4: return name != "host"
        case 6:
            guard name == "expect" else { return true }
            expectsContinue = hasContent
            return hasContent
        case 7: return name != "upgrade"
        case 10:
            if name == "connection" { asksToClose = asksToClose || Self.asksToClose(field.value) }
            return true
        case 14: return name != "content-length"
        case 17: return name != "transfer-encoding"
        // It is for the proxy that forwards the request (RFC 9110, 11.7.2), and never for an origin.
        case 19: return name != "proxy-authorization" || proxyAnswer.map { $0.value.authorization == nil } ?? false
        default: return true
        }
    }

    /// The size of the part for the proxy.
    private var proxyBytes: Int {
        guard let proxyAnswer = proxyAnswer?.value else { return 0 }
        return (proxyAnswer.authorization.map { $0.utf8.count + 23 } ?? 0) + (proxyAnswer.asksFirst ? 22 : 0)
    }

    /// An upper bound for the size of the head.
    private var mostBytes: Int {
        var bytes = head.method.rawValue.utf8.count + uri.utf8.count + target.authority.utf8.count + 80 + proxyBytes
        for field in head.headerFields {
            bytes += field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 4
        }
        return bytes
    }
}

/// Writes into memory with bounds checks.
private struct ByteWriter {
    private let bytes: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    /// Whether something did not fit and was left out.
    private(set) var isFull = false

    init(_ bytes: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func write(_ text: String) {
        // Unlike `withUTF8` alone, this copies no native string.
        if text.utf8.withContiguousStorageIfAvailable({ write(UnsafeRawBufferPointer($0)) }) == nil {
            var text = text
            text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
        }
    }

    mutating func write(isoLatin1 text: String) {
        if text.isASCII { write(text) } else { text.isoLatin1Octets.withUnsafeBytes { write($0) } }
    }

    mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes a field line. Returns false if its value contains invalid bytes.
    mutating func write(_ field: HTTPField) -> Bool {
        write("\r\n")
        write(field.name.rawName)
        write(": ")
        return field.withUnsafeBytesOfValue { value in
            let value = UnsafeRawBufferPointer(value)
            write(value)
            return value.holdsFieldBytesAlone
        }
    }

    mutating func write(_ source: UnsafeRawBufferPointer) {
        guard source.count <= bytes.count - count else {
            isFull = true
            return
        }
        guard let start = bytes.baseAddress, let from = source.baseAddress else { return }
        (start + count).copyMemory(from: from, byteCount: source.count)
        count += source.count
    }
}

internal import HTTPTypes
internal import NIOCore

/// Writes a request's head for the wire, and refuses what must not go there (RFC 9112, 3 and 5).
struct HTTP1RequestWriter {
    /// How the body goes out (RFC 9112, 6).
    enum Framing {
        case none
        case length(Int64)
        case chunked
    }

    let framing: Framing
    private(set) var asksToClose = false
    private(set) var expectsContinue = false
    private let target: RequestTarget
    private let head: HTTPRequest
    /// Not less than what the head takes.
    private let mostBytes: Int

    init(_ request: TransportRequest) throws(TransportError) {
        head = request.head
        target = try RequestTarget(head)
        if let length = request.contentLength {
            framing = .length(length)
        } else {
            framing = request.body == nil ? .none : .chunked
        }
        var bytes = head.method.rawValue.utf8.count + target.path.utf8.count + target.authority.utf8.count + 80
        for field in head.headerFields {
            bytes += field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 4
            if field.name.has("connection") { asksToClose = asksToClose || field.value.lowercased().contains("close") }
            if field.name.has("expect") { expectsContinue = request.body != nil }
        }
        mostBytes = bytes
    }

    /// Writes the head: `Host` first, then the request's own fields, then what says where the body ends. Nothing is
    /// written when it throws.
    func write(to buffer: inout ByteBuffer) throws(TransportError) {
        let start = buffer.writerIndex
        var isClean = true
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: mostBytes) { bytes in
            var writer = ByteWriter(bytes)
            writer.write(head.method.rawValue)
            writer.write(" ")
            writer.write(target.path)
            writer.write(" HTTP/1.1\r\nHost: ")
            writer.write(target.authority)
            for field in head.headerFields where !field.name.isWrittenByTransport {
                writer.write("\r\n")
                writer.write(field.name.rawName)
                writer.write(": ")
                field.withUnsafeBytesOfValue { value in
                    let value = UnsafeRawBufferPointer(value)
                    isClean = isClean && value.holdsFieldBytesAlone
                    writer.write(value)
                }
            }
            switch framing {
            case .none: break
            case .length(let length):
                writer.write("\r\nContent-Length: ")
                writer.write(String(length))
            case .chunked: writer.write("\r\nTransfer-Encoding: chunked")
            }
            writer.write("\r\n\r\n")
            isClean = isClean && !writer.isFull
            return writer.count
        }
        guard isClean else {
            buffer.moveWriterIndex(to: start)
            throw TransportError(.invalidRequest, "A field's value has characters that it must not have.")
        }
    }
}

extension HTTPField.Name {
    /// The fields that say where a message goes and where it ends are the transport's.
    fileprivate var isWrittenByTransport: Bool {
        has("host") || has("content-length") || has("transfer-encoding") || has("upgrade")
    }

    /// Whether it is this name, in lower case; most are told apart by their length.
    fileprivate func has(_ name: String) -> Bool {
        canonicalName.utf8.count == name.utf8.count && canonicalName == name
    }
}

/// Fills memory from its start, and never beyond its end.
private struct ByteWriter {
    private let bytes: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    /// Something did not fit, and was left out.
    private(set) var isFull = false

    init(_ bytes: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
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

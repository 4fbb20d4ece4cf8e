internal import HTTPTypes
internal import NIOCore

/// Parses the bytes of an HTTP/1.1 connection into responses (RFC 9112). Pure.
///
/// Bytes are added with ``append(_:)``, events are returned by ``next()``. The parser is as strict as the RFC allows a
/// client to be: it rejects ambiguous messages. It buffers at most an unfinished head or line, whose size is limited.
struct HTTP1ResponseParser {
    enum Event: Equatable {
        /// The head of an informational response, which another head follows, or of the final response.
        case head(HTTP1ResponseHead)
        case body(ByteBuffer)
        case end(HTTPFields?)
    }

    private enum Phase {
        /// No request was sent.
        case idle
        case head
        case body(left: Int64)
        case untilClose
        case chunkSize
        case chunk(left: Int64)
        case chunkEnd
        case trailers
        case failed
    }

    /// The maximum size of a line with a chunk size; chunk extensions are ignored.
    private static let mostChunkLineBytes = 4096

    private let limits: TransportConfiguration.ResponseLimits
    private var headParser = HTTP1HeadParser()
    private var phase = Phase.idle
    private var method = HTTPRequest.Method.get
    /// The bytes that the informational responses of this exchange count.
    private var informationalBytes = 0
    private(set) var input = ByteBuffer()
    /// The number of bytes of `input` that were searched for the end of a line or head, and the start of the last line
    /// among them.
    private var (searched, lineStart) = (0, 0)

    init(limits: TransportConfiguration.ResponseLimits) {
        self.limits = limits
    }

    /// Called when a request is sent; the next bytes are its response.
    mutating func begin(_ method: HTTPRequest.Method) {
        self.method = method
        informationalBytes = 0
        phase = .head
    }

    /// Whether the body ends with the connection.
    var endsWithConnection: Bool {
        if case .untilClose = phase { true } else { false }
    }

    /// Whether there are bytes that do not belong to a response.
    var hasSurplus: Bool {
        if case .idle = phase { input.readableBytes > 0 } else { false }
    }

    /// Forgets the last head, which the next one is compared with.
    mutating func rest() {
        headParser = HTTP1HeadParser()
    }

    /// Takes the bytes that follow a response with 101, or the head of a successful one to CONNECT, whatever that says
    /// about a body (RFC 9110, 9.3.6).
    mutating func takeSurplus() -> ByteBuffer? {
        phase = .idle
        return takeAll()
    }

    mutating func append(_ bytes: ByteBuffer) {
        input.appendUnread(bytes)
    }

    /// The next event; nil when more bytes are needed.
    mutating func next() throws(HTTP1SyntaxError) -> Event? {
        do {
            switch phase {
            case .idle, .failed: return nil
            case .head: return try nextHead()
            case .body(let left): return nextBytes(left) { $0 == 0 ? nil : .body(left: $0) }
            case .untilClose: return takeAll().map { .body($0) }
            case .chunkSize, .chunk, .chunkEnd, .trailers: return try nextOfChunks()
            }
        } catch {
            phase = .failed
            input = ByteBuffer()
            throw error
        }
    }

    /// Called when the connection has ended. Returns the resulting event.
    mutating func finish() -> Event? {
        guard endsWithConnection else { return nil }
        phase = .idle
        return .end(nil)
    }

    // MARK: Head

    private mutating func nextHead() throws(HTTP1SyntaxError) -> Event? {
        guard let length = try lengthOfFields() else {
            // Another protocol is detected without waiting for a whole head.
            guard input.readableBytesView.agrees(with: "HTTP/1.") else {
                throw .malformed("a first line that is not an HTTP/1.1 status line")
            }
            return nil
        }
        let head = try parseHead(length)
        consume(length)
        guard !head.isInformational else {
            informationalBytes += length + TransportConfiguration.ResponseLimits.informationalCost
            guard informationalBytes <= limits.headBytes else { throw .tooManyInformationalResponses }
            return .head(head)
        }
        switch head.framing(for: method) {
        case .none: phase = .body(left: 0)
        case .length(let length): phase = .body(left: length)
        case .chunked: phase = .chunkSize
        case .untilClose: phase = .untilClose
        }
        return .head(head)
    }

    private mutating func parseHead(_ length: Int) throws(HTTP1SyntaxError) -> HTTP1ResponseHead {
        let (maximum, input) = (limits.headFields, input)
        return try input.withUnsafeReadableBytes { bytes throws(HTTP1SyntaxError) in
            try headParser.parse(UnsafeRawBufferPointer(rebasing: bytes[..<length]), maximumFields: maximum)
        }
    }

    /// The number of bytes up to and including the empty line; nil if it has not arrived. Each byte is searched once.
    private mutating func lengthOfFields() throws(HTTP1SyntaxError) -> Int? {
        var (searched, lineStart) = (searched, lineStart)
        let end = input.withUnsafeReadableBytes { bytes -> Int? in
            while let lineFeed = bytes.firstIndex(of: .lineFeed, from: searched) {
                let length = lineFeed - lineStart
                searched = lineFeed + 1
                // An empty line that ends with LF alone ends the search, too, so that the head is refused at once and
                // not at the limit.
                if length == 0 || (length == 1 && bytes[lineStart] == .carriageReturn) { return searched }
                lineStart = searched
            }
            searched = bytes.count
            return nil
        }
        (self.searched, self.lineStart) = (searched, lineStart)
        guard end ?? searched <= limits.headBytes else { throw .headTooLarge }
        return end
    }

    // MARK: Body

    /// The next bytes of a part of known length; `following` returns the phase after them.
    private mutating func nextBytes(_ left: Int64, _ following: (Int64) -> Phase?) -> Event? {
        guard left > 0 else {
            phase = .idle
            return .end(nil)
        }
        guard let bytes = take(left) else { return nil }
        phase = following(left - Int64(bytes.readableBytes)) ?? .body(left: 0)
        return .body(bytes)
    }

    private mutating func nextOfChunks() throws(HTTP1SyntaxError) -> Event? {
        while true {
            switch phase {
            case .chunkSize:
                guard let size = try nextChunkSize() else { return nil }
                phase = size == 0 ? .trailers : .chunk(left: size)
            case .chunk(let left):
                return nextBytes(left) { $0 == 0 ? .chunkEnd : .chunk(left: $0) }
            case .chunkEnd:
                guard let end: UInt16 = input.readInteger() else { return nil }
                guard end == 0x0D0A else { throw .malformed("a chunk that is longer than its size") }
                phase = .chunkSize
            default:
                return try nextTrailers()
            }
        }
    }

    /// Parses `1a2b;extensions` and the line end (RFC 9112, 7.1).
    private mutating func nextChunkSize() throws(HTTP1SyntaxError) -> Int64? {
        let searched = searched
        let line = try input.withUnsafeReadableBytes { bytes throws(HTTP1SyntaxError) -> (size: Int64, length: Int)? in
            let lineFeed = bytes.firstIndex(of: .lineFeed, from: searched)
            guard lineFeed ?? bytes.count <= Self.mostChunkLineBytes else {
                throw .malformed("a chunk size line that is too long")
            }
            guard let lineFeed else { return nil }
            guard lineFeed > 0, bytes[lineFeed - 1] == .carriageReturn else {
                throw .malformed("a chunk size line that does not end with CRLF")
            }
            return (try Self.chunkSize(UnsafeRawBufferPointer(rebasing: bytes[..<(lineFeed - 1)])), lineFeed + 1)
        }
        guard let line else {
            self.searched = input.readableBytes
            return nil
        }
        consume(line.length)
        return line.size
    }

    private static func chunkSize(_ line: UnsafeRawBufferPointer) throws(HTTP1SyntaxError) -> Int64 {
        var (size, digits) = (Int64(0), 0)
        while digits < line.count, let value = line[digits].hexadecimalValue {
            size = size << 4 | value
            digits += 1
            // Sixteen digits can exceed Int64.
            guard digits <= 15 else { throw .malformed("a chunk size that is too large") }
        }
        let rest = line[digits...]
        // Extensions are ignored, but not their control characters, at which another parser may end the line.
        guard digits > 0, rest.first(where: { !$0.isBlank }).map({ $0 == UInt8(ascii: ";") }) ?? rest.isEmpty,
            rest.allSatisfy(\.isFieldByte)
        else { throw .malformed("a chunk size that is not a number") }
        return size
    }

    private mutating func nextTrailers() throws(HTTP1SyntaxError) -> Event? {
        guard let length = try lengthOfFields() else { return nil }
        let maximum = limits.headFields
        let trailers = try input.withUnsafeReadableBytes { bytes throws(HTTP1SyntaxError) in
            try HTTP1HeadParser.trailers(UnsafeRawBufferPointer(rebasing: bytes[..<length]), maximumFields: maximum)
        }
        consume(length)
        phase = .idle
        return .end(trailers)
    }

    // MARK: Input

    private mutating func take(_ most: Int64) -> ByteBuffer? {
        guard Int64(input.readableBytes) > most else { return takeAll() }
        return input.readSlice(length: Int(most))
    }

    /// Takes all bytes without leaving a reference, so that later writes do not copy them.
    private mutating func takeAll() -> ByteBuffer? {
        guard input.readableBytes > 0 else { return nil }
        defer { input = ByteBuffer() }
        return input
    }

    private mutating func consume(_ length: Int) {
        input.moveReaderIndex(forwardBy: length)
        if input.readableBytes == 0 { input = ByteBuffer() }
        (searched, lineStart) = (0, 0)
    }
}

extension ByteBufferView {
    /// Whether the bytes equal a text, start with it, or are a prefix of it.
    fileprivate func agrees(with text: StaticString) -> Bool {
        zip(self, UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)).allSatisfy { $0 == $1 }
    }
}

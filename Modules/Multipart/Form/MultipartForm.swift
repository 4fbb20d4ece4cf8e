import FoundationEssentials
public import LinnetMessages
public import LinnetSerialization

/// A `multipart/form-data` body as a value: parts in order, encoded while they are read (RFC 7578).
///
/// ```swift
/// var form = MultipartForm()
/// form.append("Ada", name: "author")
/// try form.append(fileAt: URL(filePath: "/tmp/photo.jpg"), name: "photo")
/// let request = SessionRequest(url: url, method: .post, headerFields: [.contentType: form.contentType], body: form.makeBody())
/// ```
/// Names and file names are escaped by the WHATWG form standard: `"` as `%22`, CR as `%0D`, LF as `%0A`. Reading the
/// body fails for other control characters except tabs (``MultipartError/Code/invalidName``), and for a form without
/// parts (``MultipartError/Code/emptyForm``; RFC 2046).
///
/// Other values of ``MultipartForm/Subtype`` make other multipart bodies. Their parts are appended with header fields.
public struct MultipartForm: Sendable {
    /// The subtype; the default is ``MultipartForm/Subtype/formData``.
    public let subtype: Subtype
    /// The boundary between parts; by default it has at least 128 random bits.
    public private(set) var boundary: String
    /// The media types for files that are appended later; the default is `MIMEType.Table.usual`.
    public var mimeTypes = MIMEType.Table.usual
    /// Whether file names with `"`, control or non-ASCII characters are also sent as `filename*` in UTF-8 (RFC 8187,
    /// formerly RFC 5987). The default is false, as RFC 7578, section 4.2 requires; some servers expect it.
    public var addsExtendedFileNames = false
    /// The maximum size of a chunk in bytes, clamped to 1 through 16 MiB; the default is 65,536.
    public var chunkSize = 64 * 1024

    var throttling: MultipartThrottle?
    var parts: [FormPart] = []
    /// The first error in a part, which is thrown when the body is read.
    private var fault: MultipartError?
    private let hasOwnBoundary: Bool

    /// Creates a form with a random boundary, which does not occur in parts in memory.
    public init(subtype: Subtype = .formData) {
        self.subtype = subtype
        boundary = MultipartBoundary.random()
        hasOwnBoundary = false
    }

    /// Creates a form with a given boundary.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidBoundary`` if it does not match RFC 2046, section
    ///   5.1.1. If the boundary occurs in a part in memory, reading the body throws
    ///   ``MultipartError/Code/boundaryInPart``.
    public init(boundary: String, subtype: Subtype = .formData) throws(MultipartError) {
        guard MultipartBoundary.isValid(boundary) else {
            throw MultipartError(code: .invalidBoundary, message: "\(boundary.debugDescription) is not a boundary.")
        }
        self.subtype = subtype
        self.boundary = boundary
        hasOwnBoundary = true
    }

    /// The value of the request's Content-Type.
    public var contentType: String {
        "multipart/\(subtype.name); boundary=\(MultipartBoundary.parameter(boundary))\(subtype.parameters)"
    }

    /// The number of parts.
    public var count: Int { parts.count }

    /// Whether there are no parts.
    public var isEmpty: Bool { parts.isEmpty }

    /// The exact length of the body in bytes; nil if the length of a stream is unknown, or there are no parts.
    public var contentLength: Int64? {
        guard !parts.isEmpty else { return nil }
        // "--B CRLF" or "CRLF --B CRLF" before each part, "CRLF --B-- CRLF" at the end.
        let delimiter = Int64(boundary.utf8.count) + 6
        var total = delimiter
        for part in parts {
            guard let length = part.length else { return nil }
            let head = part.headBytes(addsExtendedFileName: addsExtendedFileNames).count
            let (sum, overflowed) = total.addingReportingOverflow(delimiter + Int64(head))
            let (whole, overflowedToo) = sum.addingReportingOverflow(length)
            if overflowed || overflowedToo { return nil }
            total = whole
        }
        return total
    }

    /// Appends a part. An error in the part is recorded, and thrown when the body is read.
    mutating func append(_ part: FormPart) {
        parts.append(part)
        if let scalar = part.unwritableScalar {
            let index = parts.count - 1
            record(
                error(
                    .invalidName, at: index,
                    "The name or file name of \(label(of: index)) has the control character U+\(scalar)."))
        }
        guard case .data(let data) = part.content, MultipartBoundary.occurs(boundary, in: data) else { return }
        if hasOwnBoundary {
            let index = parts.count - 1
            record(error(.boundaryInPart, at: index, "The boundary \(boundary) occurs in \(label(of: index))."))
        } else {
            renewBoundary()
        }
    }

    mutating func record(_ error: MultipartError) { fault = fault ?? error }

    /// The name of a part in messages.
    func label(of index: Int) -> String {
        parts[index].name.map { "the part \($0.debugDescription)" } ?? "part \(index + 1)"
    }

    func error(
        _ code: MultipartError.Code, at index: Int, _ message: String, underlying: (any Error)? = nil
    ) -> MultipartError {
        MultipartError(
            code: code, message: message, partName: parts[index].name, partIndex: index, underlying: underlying)
    }

    private mutating func renewBoundary() {
        repeat {
            boundary = MultipartBoundary.random()
        } while parts.contains { part in
            if case .data(let data) = part.content { MultipartBoundary.occurs(boundary, in: data) } else { false }
        }
    }

    /// Checks the form like reading its body.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/emptyForm``, ``MultipartError/Code/invalidName``,
    ///   ``MultipartError/Code/invalidContentType``, ``MultipartError/Code/lengthMismatch`` or
    ///   ``MultipartError/Code/boundaryInPart``.
    public func validate() throws(MultipartError) {
        if let fault { throw fault }
        if parts.isEmpty { throw MultipartError(code: .emptyForm, message: "The form has no parts.") }
    }
}

extension MultipartForm {
    /// The names of the parts that can be read only once, which prevents replaying the body. A part without a name has
    /// its number, such as `part 2`.
    public var nonReplayablePartNames: [String] {
        parts.indices.filter { !parts[$0].isReplayable }.map { parts[$0].name ?? "part \($0 + 1)" }
    }

    /// Returns the body, which encodes the form while it is read, in chunks of at most ``chunkSize``.
    ///
    /// Each piece of a stream ends a chunk, so that no piece waits for the next one, unless the form is throttled.
    /// Memory does not grow with the size of the parts. The body is replayable if all parts are; `replayObstacle` names
    /// the others. Opening and reading the body throw ``MultipartError``. A session reads files on threads for blocking
    /// work. Other readers read them on their own thread, which may block on the disk.
    public func makeBody() -> HTTPRequestBody {
        let once = nonReplayablePartNames
        let names = once.map(\.debugDescription).joined(separator: ", ")
        return .stream(
            length: contentLength,
            isReplayable: once.isEmpty,
            replayObstacle: once.isEmpty ? nil : "the form's part \(names) is a stream that can be read only once",
            readingFiles: { threads in
                try validate()
                return MultipartBodyReader(form: self, threads: threads)
            }
        )
    }
}

/// A limit on the rate of a body: packets with delays between them.
struct MultipartThrottle: Sendable {
    let packetSize: Int
    let delay: Duration
    let clock: any Clock<Duration>
}

extension MultipartForm {
    /// Limits the rate of the body: packets of at most `packetSize` bytes, with a delay before each except the first.
    ///
    /// Use it for networks that drop connections under load. It also applies to replays. Cancelling the task that
    /// reads the body ends a delay. Pieces of a stream are collected until a packet is full.
    ///
    /// - Parameters:
    ///   - packetSize: The size in bytes, at least 1; the default is 16,384.
    ///   - delay: The delay, from zero to a century; the default is 0.2 seconds, which gives 80 KB per second.
    ///   - clock: The clock for the delays.
    public mutating func throttle(
        packetSize: Int = 16 * 1024, delay: Duration = .milliseconds(200),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        // The limit keeps clocks from trapping on durations beyond Int64 seconds.
        let pause = min(max(.zero, delay), .seconds(Int64(100 * 365 * 86_400)))
        throttling = MultipartThrottle(packetSize: max(1, packetSize), delay: pause, clock: clock)
    }
}

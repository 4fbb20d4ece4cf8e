import FoundationEssentials
public import LinnetSerialization

/// A `multipart/form-data` body as a value: parts in order, encoded only as they are pulled (RFC 7578).
///
/// ```swift
/// var form = MultipartForm()
/// form.append("Ada", name: "author")
/// try form.append(fileAt: URL(filePath: "/tmp/photo.jpg"), name: "photo")
/// let request = Request(url: url, method: .post, headerFields: [.contentType: form.contentType], body: form.makeBody())
/// ```
/// Names and file names are escaped as the WHATWG form standard says: `"` as `%22`, CR as `%0D`, LF as `%0A`. Another control
/// character but a tab is an error when the body is read (``MultipartError/Code/invalidName``). A form without parts is an error when its body is read (``MultipartError/Code/emptyForm``): RFC 2046 wants one at least.
///
/// With another ``MultipartSubtype`` it is a body of that subtype, whose parts are best given with their header fields.
public struct MultipartForm: Sendable {
    /// What the parts are to each other; the default is ``MultipartSubtype/formData``.
    public let subtype: MultipartSubtype
    /// What stands between the parts: at least 128 random bits unless one was given.
    public private(set) var boundary: String
    /// Where the media types of files come from that are appended from now on; the default is
    /// ``MediaTypeTable/usual``.
    public var mediaTypes = MediaTypeTable.usual
    /// Whether a file name with `"`, control characters or more than ASCII is given as `filename*`, too, in UTF-8 (RFC
    /// 8187, once RFC 5987). The default is false, as RFC 7578, section 4.2 wants it; some servers ask for it.
    public var addsExtendedFileNames = false
    /// How many bytes a chunk of the body has at most; the default is 65,536. Numbers outside of 1 to 16 MiB are taken for
    /// the nearest of them.
    public var chunkSize = 64 * 1024

    var throttling: MultipartThrottle?
    var parts: [FormPart] = []
    /// The first thing wrong with a part, which is thrown when the body is read.
    private var fault: MultipartError?
    private let hasOwnBoundary: Bool

    /// Creates a form with a random boundary, which never occurs in a part that is in memory.
    public init(subtype: MultipartSubtype = .formData) {
        self.subtype = subtype
        boundary = MultipartBoundary.random()
        hasOwnBoundary = false
    }

    /// Creates a form with a boundary of the caller's.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidBoundary`` unless it is one by RFC 2046,
    ///   section 5.1.1. If it occurs in a part that is in memory, reading the body throws
    ///   ``MultipartError/Code/boundaryInPart``.
    public init(boundary: String, subtype: MultipartSubtype = .formData) throws(MultipartError) {
        guard MultipartBoundary.isValid(boundary) else {
            throw MultipartError(code: .invalidBoundary, message: "\(boundary.debugDescription) is not a boundary.")
        }
        self.subtype = subtype
        self.boundary = boundary
        hasOwnBoundary = true
    }

    /// The value for the request's Content-Type.
    public var contentType: String {
        "multipart/\(subtype.name); boundary=\(MultipartBoundary.parameter(boundary))\(subtype.parameters)"
    }

    /// The number of parts.
    public var count: Int { parts.count }

    /// Whether there is no part.
    public var isEmpty: Bool { parts.isEmpty }

    /// The exact length of the body in bytes; nil if a stream's length is not known, or there is no part.
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

    /// Adds a part, unless something about it is wrong, which is kept for when the body is read.
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

    /// What a part is called in messages.
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

    /// Does nothing if the body can be read; the same is checked when it is.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/emptyForm``, ``MultipartError/Code/invalidName``,
    ///   ``MultipartError/Code/invalidContentType``, ``MultipartError/Code/lengthMismatch`` or ``MultipartError/Code/boundaryInPart``.
    public func validate() throws(MultipartError) {
        if let fault { throw fault }
        if parts.isEmpty { throw MultipartError(code: .emptyForm, message: "The form has no parts.") }
    }
}

extension MultipartForm {
    /// The parts that can be read once only, by name: what keeps the body from being sent again. A part without a name
    /// is there by its place, such as `part 2`.
    public var nonReplayablePartNames: [String] {
        parts.indices.filter { !parts[$0].isReplayable }.map { parts[$0].name ?? "part \($0 + 1)" }
    }

    /// Returns the body, which encodes the form as it is pulled, in chunks of at most ``chunkSize``.
    ///
    /// Memory does not grow with the parts' size. The body can be replayed if each part can; `replayObstacle` names
    /// those which cannot. Opening and reading it throw ``MultipartError``. A session reads the form's files on threads for
    /// files; who pulls the body by a reader of their own reads them there, which may block for as long as the disk takes.
    public func makeBody() -> HTTPBody {
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

/// How fast a form's body is given: small packets with pauses between them.
struct MultipartThrottle: Sendable {
    let packetSize: Int
    let delay: Duration
    let clock: any Clock<Duration>
}

extension MultipartForm {
    /// Holds the body back: it is given in packets of at most `packetSize` bytes, and before each but the first there is
    /// a pause.
    ///
    /// For networks that drop connections which send too much at once. It holds for each replay, too. Cancelling the task
    /// that reads the body ends a pause.
    ///
    /// - Parameters:
    ///   - packetSize: In bytes; the default is 16,384. Below 1 it is 1.
    ///   - delay: The default is 0.2 seconds, which makes 80 KB a second. Below zero it is zero; above a century
    ///     it is one.
    ///   - clock: What measures the pauses.
    public mutating func throttle(
        packetSize: Int = 16 * 1024, delay: Duration = .milliseconds(200),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        // Clocks end the process when they are told to sleep for more seconds than an Int64 has.
        let pause = min(max(.zero, delay), .seconds(Int64(100 * 365 * 86_400)))
        throttling = MultipartThrottle(packetSize: max(1, packetSize), delay: pause, clock: clock)
    }
}

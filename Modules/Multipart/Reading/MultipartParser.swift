public import FoundationEssentials
import HTTPTypes
internal import LinnetMessages
import LinnetSerialization

/// Parses a multipart body of any subtype as its bytes arrive (RFC 2046, section 5.1), with bounded memory and in
/// linear time.
///
/// Push bytes as they arrive, take events until there are none, and finish at the end:
///
/// ```swift
/// var parser = try MultipartParser(contentType: #"multipart/mixed; boundary="b""#)
/// for chunk in chunks {
///     parser.push(chunk)
///     while let event = try parser.next() { handle(event) }
/// }
/// try parser.finish()
/// ```
/// ``MultipartReader`` does this for an async sequence. Text before the first and after the last delimiter is
/// ignored, and so are up to 128 spaces and tabs after a delimiter. Lines end in CR LF. The parts do not depend on
/// how the bytes are split.
///
/// After an error, each call throws it again. ``next()`` and ``finish()`` throw ``MultipartError`` with
/// ``MultipartError/Code/malformedHeader``, ``MultipartError/Code/bareLineFeed``, ``MultipartError/Code/truncated``,
/// the codes of the ``MultipartParser/Limits``, and for a nested body ``MultipartError/Code/notMultipart`` and
/// ``MultipartError/Code/invalidBoundary``.
public struct MultipartParser: Sendable {
    private let limits: MultipartParser.Limits
    private let readsNestedParts: Bool
    /// The body and the open nested bodies.
    private var levels: [MultipartScanner]
    private var partCount = 0
    private var totalBytes: Int64 = 0
    private var failure: MultipartError?

    /// Creates a parser for a boundary.
    ///
    /// - Parameters:
    ///   - boundary: The boundary in Content-Type, without quotes. It may have any printable ASCII character, since
    ///     some servers use characters that RFC 2046 forbids.
    ///   - limits: The limits for the body.
    ///   - readsNestedParts: Whether multipart parts are parsed; otherwise they are data. The default is false.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidBoundary``.
    public init(
        boundary: String, limits: MultipartParser.Limits = MultipartParser.Limits(), readsNestedParts: Bool = false
    ) throws(MultipartError) {
        try Self.check(boundary)
        self.limits = limits
        self.readsNestedParts = readsNestedParts
        levels = [MultipartScanner(boundary: boundary)]
    }

    /// Creates a parser for a Content-Type.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/notMultipart`` if the type is not multipart or has no
    ///   boundary, or with ``MultipartError/Code/invalidBoundary``.
    public init(
        contentType: String, limits: MultipartParser.Limits = MultipartParser.Limits(), readsNestedParts: Bool = false
    ) throws(MultipartError) {
        try self.init(
            boundary: Self.boundary(in: contentType), limits: limits, readsNestedParts: readsNestedParts)
    }

    private static func boundary(in contentType: String) throws(MultipartError) -> String {
        let shown = String(contentType.prefix(200)).debugDescription
        guard let type = MIMEType(contentType: contentType) else {
            throw MultipartError(code: .notMultipart, message: "The content type \(shown) is not a media type.")
        }
        guard type.type == "multipart" else {
            throw MultipartError(code: .notMultipart, message: "The content type \(type) is not a multipart type.")
        }
        guard let boundary = type.parameter("boundary") else {
            throw MultipartError(code: .notMultipart, message: "The content type \(shown) has no boundary.")
        }
        return boundary
    }

    private static func check(_ boundary: String, partName: String? = nil) throws(MultipartError) {
        guard !MultipartBoundary.isReadable(boundary) else { return }
        let shown = String(boundary.prefix(100)).debugDescription
        throw MultipartError(
            code: .invalidBoundary,
            message: "The boundary \(shown) is not 1 to 70 printable characters of ASCII without a space at the end.",
            partName: partName)
    }

    /// Whether the last delimiter was parsed. Bytes after it are ignored.
    public var isComplete: Bool { levels[0].isClosed }

    /// Adds bytes.
    public mutating func push(_ bytes: some DataProtocol) {
        totalBytes += Int64(bytes.count)
        if let most = limits.maximumTotalBytes, totalBytes > most, failure == nil {
            failure = MultipartError(code: .bodyTooLarge, message: "The body has more than \(most) bytes.")
        }
        guard failure == nil else { return }
        for region in bytes.regions { region.withUnsafeBytes { levels[0].push($0) } }
    }

    /// Returns the next event; nil if it needs more bytes.
    public mutating func next() throws(MultipartError) -> MultipartParser.Event? {
        if let failure { throw failure }
        do {
            return try advance(0)
        } catch {
            failure = error
            throw error
        }
    }

    /// Checks that the body is complete. Call it at the end of the bytes, after ``next()`` has returned nil.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/truncated``, or an earlier error.
    public mutating func finish() throws(MultipartError) {
        if let failure { throw failure }
        guard !levels[0].isClosed else { return }
        let error = Self.truncated
        failure = error
        throw error
    }

    private static let truncated = MultipartError(
        code: .truncated, message: "The body ends before its last delimiter.")

    private mutating func advance(_ level: Int) throws(MultipartError) -> MultipartParser.Event? {
        while true {
            let isInnermost = level == levels.count - 1
            if !isInnermost, let event = try advance(level + 1) { return event }
            guard let event = try levels[level].next(limits) else { return nil }
            switch event {
            case .head(let fields):
                return .partBegan(try begin(fields))
            case .data(let data):
                if isInnermost { return .data(data) }
                data.withUnsafeBytes { levels[level + 1].push($0) }
            case .end:
                if !isInnermost {
                    guard levels[level + 1].isClosed else { throw Self.truncated }
                    levels.removeLast()
                }
                return .partEnded
            }
        }
    }

    private mutating func begin(_ fields: HTTPFields) throws(MultipartError) -> MultipartPart.Head {
        partCount += 1
        guard partCount <= limits.maximumPartCount else {
            throw MultipartError(
                code: .tooManyParts, message: "The body has more than \(limits.maximumPartCount) parts.")
        }
        let head = MultipartPart.Head(headerFields: fields, depth: levels.count - 1)
        guard readsNestedParts, head.contentType?.type == "multipart" else { return head }
        guard levels.count < limits.maximumNesting else {
            throw MultipartError(
                code: .nestedTooDeep,
                message: "Multipart bodies are nested deeper than \(limits.maximumNesting) levels.",
                partName: head.name)
        }
        let boundary = try Self.boundary(in: fields[.contentType] ?? "")
        try Self.check(boundary, partName: head.name)
        levels.append(MultipartScanner(boundary: boundary))
        return head
    }
}

extension MultipartParser {
    /// The events of a multipart body, in order.
    ///
    /// A part is ``partBegan(_:)``, any number of ``data(_:)``, and ``partEnded``. A nested multipart body that is
    /// parsed has parts instead of data.
    public enum Event: Sendable, Hashable {
        /// The header of a part is complete.
        case partBegan(MultipartPart.Head)
        /// Bytes of a part's content, at least one. Their sizes depend on the input.
        case data(Data)
        /// The part is complete.
        case partEnded
    }
}

extension MultipartParser {
    /// The limits for parsing a multipart body.
    public struct Limits: Sendable, Hashable, Codable {
        /// The maximum number of parts, including the parts of nested bodies; the default is 1,000. Exceeding it is
        /// ``MultipartError/Code/tooManyParts``.
        public var maximumPartCount = 1000
        /// The maximum number of bytes in a part's header, including line ends; the default is 16,384. Exceeding it is
        /// ``MultipartError/Code/headerTooLarge``.
        public var maximumHeaderBytes = 16 * 1024
        /// The maximum number of fields in a part's header, at most 10,000; the default is 64. Exceeding it is
        /// ``MultipartError/Code/tooManyHeaderFields``.
        public var maximumHeaderFieldCount = 64
        /// The maximum depth of multipart bodies, including the outermost; the default is 4. Exceeding it is
        /// ``MultipartError/Code/nestedTooDeep``.
        public var maximumNesting = 4
        /// The maximum number of bytes in the body; the default, nil, is no limit, since the parser keeps no content.
        /// Exceeding it is ``MultipartError/Code/bodyTooLarge``.
        public var maximumTotalBytes: Int64?

        /// Creates the default limits.
        public init() {}
    }
}

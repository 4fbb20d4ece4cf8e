public import FoundationEssentials
import HTTPTypes
import LinnetSerialization

/// Reads a multipart body of any subtype as its bytes come (RFC 2046, section 5.1), with bounded memory and in a time that
/// grows with its length alone.
///
/// Push what has come, and take the events until there is none; at the end, say so:
///
/// ```swift
/// var parser = try MultipartParser(contentType: #"multipart/mixed; boundary="b""#)
/// for chunk in chunks {
///     parser.push(chunk)
///     while let event = try parser.next() { handle(event) }
/// }
/// try parser.finish()
/// ```
/// ``MultipartReader`` does that for an async sequence. What stands before the first delimiter and after the last is passed
/// over, and so are spaces and tabs behind a delimiter (128 at most). Lines end in CR LF. How the bytes are cut makes no
/// difference to the parts.
///
/// Once it has thrown, it throws the same again. ``next()`` and ``finish()`` throw ``MultipartError`` with the codes
/// ``MultipartError/Code/malformedHeader``, ``MultipartError/Code/bareLineFeed``, ``MultipartError/Code/truncated``, those of the ``MultipartLimits``, and for a
/// nested body ``MultipartError/Code/notMultipart`` and ``MultipartError/Code/invalidBoundary``.
public struct MultipartParser: Sendable {
    private let limits: MultipartLimits
    private let readsNestedParts: Bool
    /// The body, and the nested ones that have begun.
    private var levels: [MultipartScanner]
    private var partCount = 0
    private var totalBytes: Int64 = 0
    private var failure: MultipartError?

    /// Creates a parser for a boundary.
    ///
    /// - Parameters:
    ///   - boundary: The boundary as it is written in Content-Type, without quotes. It may have any
    ///     printable character of ASCII, as those of some servers do, where RFC 2046 allows fewer.
    ///   - limits: What the body may cost.
    ///   - readsNestedParts: Whether parts that are multipart are taken apart, too; otherwise they are data. The default
    ///     is false.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidBoundary``.
    public init(
        boundary: String, limits: MultipartLimits = MultipartLimits(), readsNestedParts: Bool = false
    ) throws(MultipartError) {
        try Self.check(boundary)
        self.limits = limits
        self.readsNestedParts = readsNestedParts
        levels = [MultipartScanner(boundary: boundary)]
    }

    /// Creates a parser for the value of a Content-Type.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/notMultipart`` when it is of another type or has no
    ///   boundary, or with ``MultipartError/Code/invalidBoundary``.
    public init(
        contentType: String, limits: MultipartLimits = MultipartLimits(), readsNestedParts: Bool = false
    ) throws(MultipartError) {
        try self.init(
            boundary: Self.boundary(in: contentType), limits: limits, readsNestedParts: readsNestedParts)
    }

    private static func boundary(in contentType: String) throws(MultipartError) -> String {
        let shown = String(contentType.prefix(200)).debugDescription
        guard let type = MediaType(contentType: contentType) else {
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

    /// Whether the last delimiter has been read. What follows it is passed over.
    public var isComplete: Bool { levels[0].isClosed }

    /// Takes bytes that have come.
    public mutating func push(_ bytes: some DataProtocol) {
        totalBytes += Int64(bytes.count)
        if let most = limits.maximumTotalBytes, totalBytes > most, failure == nil {
            failure = MultipartError(code: .bodyTooLarge, message: "The body has more than \(most) bytes.")
        }
        guard failure == nil else { return }
        for region in bytes.regions { region.withUnsafeBytes { levels[0].push($0) } }
    }

    /// Returns the next event; nil if it takes more bytes.
    public mutating func next() throws(MultipartError) -> MultipartEvent? {
        if let failure { throw failure }
        do {
            return try advance(0)
        } catch {
            failure = error
            throw error
        }
    }

    /// Makes sure that the body is whole. Call it when no more bytes come and ``next()`` has returned nil.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/truncated``, or what was thrown before.
    public mutating func finish() throws(MultipartError) {
        if let failure { throw failure }
        guard !levels[0].isClosed else { return }
        let error = Self.truncated
        failure = error
        throw error
    }

    private static let truncated = MultipartError(
        code: .truncated, message: "The body ends before its last delimiter.")

    private mutating func advance(_ level: Int) throws(MultipartError) -> MultipartEvent? {
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

    private mutating func begin(_ fields: HTTPFields) throws(MultipartError) -> MultipartPartHead {
        partCount += 1
        guard partCount <= limits.maximumPartCount else {
            throw MultipartError(
                code: .tooManyParts, message: "The body has more than \(limits.maximumPartCount) parts.")
        }
        let head = MultipartPartHead(headerFields: fields, depth: levels.count - 1)
        guard readsNestedParts, head.contentType?.type == "multipart" else { return head }
        guard levels.count < limits.maximumNesting else {
            throw MultipartError(
                code: .nestedTooDeep,
                message: "More than \(limits.maximumNesting) multipart bodies stand in each other.",
                partName: head.name)
        }
        let boundary = try Self.boundary(in: fields[.contentType] ?? "")
        try Self.check(boundary, partName: head.name)
        levels.append(MultipartScanner(boundary: boundary))
        return head
    }
}

/// What a multipart body is made of, in the order in which it comes.
///
/// A part is ``partBegan(_:)``, any number of ``data(_:)``, and ``partEnded``. Where nested bodies are read, a part that is
/// multipart has parts in the place of data.
public enum MultipartEvent: Sendable, Hashable {
    /// A part's header is read.
    case partBegan(MultipartPartHead)
    /// Bytes of the part's content, at least one. How they are cut depends on how they came.
    case data(Data)
    /// The part is whole.
    case partEnded
}

/// What a multipart body may cost that somebody else made.
public struct MultipartLimits: Sendable, Hashable, Codable {
    /// How many parts there may be, those of nested bodies included; the default is 1,000. One more is
    /// ``MultipartError/Code/tooManyParts``.
    public var maximumPartCount = 1000
    /// How many bytes a part's header may have, the line ends included; the default is 16,384. More are
    /// ``MultipartError/Code/headerTooLarge``.
    public var maximumHeaderBytes = 16 * 1024
    /// How many fields a part's header may have; the default is 64. One more is
    /// ``MultipartError/Code/tooManyHeaderFields``. Numbers above 10,000 are taken for it.
    public var maximumHeaderFieldCount = 64
    /// How many multipart bodies may stand in each other where nested ones are read, the outermost included; the default
    /// is 4. One more is ``MultipartError/Code/nestedTooDeep``.
    public var maximumNesting = 4
    /// How many bytes the whole may have; the default is nil, for any number, since what is read is not kept. More are
    /// ``MultipartError/Code/bodyTooLarge``.
    public var maximumTotalBytes: Int64?

    /// The defaults.
    public init() {}
}

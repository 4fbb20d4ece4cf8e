public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

/// A part that was read, with its whole content.
public struct MultipartPart: Sendable, Hashable {
    /// The header.
    public let head: MultipartPartHead
    /// The content as it came; a Content-Transfer-Encoding is not undone. Empty if ``parts`` has been read from it.
    public internal(set) var body = Data()
    /// The parts in this one, where nested bodies are read.
    public internal(set) var parts: [MultipartPart] = []

    init(head: MultipartPartHead) { self.head = head }

    /// The header's fields.
    public var headerFields: HTTPFields { head.headerFields }
    /// The name in Content-Disposition; see ``MultipartPartHead/name``.
    public var name: String? { head.name }
    /// The file name in Content-Disposition; see ``MultipartPartHead/fileName``.
    public var fileName: String? { head.fileName }
    /// The content type; see ``MultipartPartHead/contentType``.
    public var contentType: MediaType? { head.contentType }
    /// Which bytes the part is; see ``MultipartPartHead/byteRange``.
    public var byteRange: MultipartByteRange? { head.byteRange }

    /// Reads a whole body.
    ///
    /// - Parameters:
    ///   - body: The body's bytes.
    ///   - contentType: The value of its Content-Type.
    ///   - limits: What it may cost.
    ///   - readsNestedParts: Whether parts that are multipart are taken apart, too. The default is false.
    /// - Throws: ``MultipartError``, with the codes of ``MultipartParser``.
    public static func all(
        in body: Data, contentType: String, limits: MultipartLimits = MultipartLimits(), readsNestedParts: Bool = false
    ) throws(MultipartError) -> [MultipartPart] {
        var parser = try MultipartParser(contentType: contentType, limits: limits, readsNestedParts: readsNestedParts)
        var assembly = MultipartAssembly()
        parser.push(body)
        while let event = try parser.next() { assembly.add(event) }
        try parser.finish()
        return assembly.parts
    }
}

/// Puts parts together from events.
struct MultipartAssembly {
    private(set) var parts: [MultipartPart] = []
    /// The parts that have begun, the outermost first.
    private var open: [MultipartPart] = []

    mutating func add(_ event: MultipartEvent) {
        switch event {
        case .partBegan(let head):
            open.append(MultipartPart(head: head))
        case .data(let data):
            if !open.isEmpty { open[open.count - 1].body.append(data) }
        case .partEnded:
            guard let part = open.popLast() else { return }
            if open.isEmpty { parts.append(part) } else { open[open.count - 1].parts.append(part) }
        }
    }
}

/// The header of a part that was read.
public struct MultipartPartHead: Sendable, Hashable {
    /// The header fields in their order. Folded lines are one, with a space between them.
    public let headerFields: HTTPFields
    /// The name in Content-Disposition; nil if there is none.
    ///
    /// In a form, `%22`, `%0D` and `%0A` are read as what the WHATWG form standard writes for them, and `\"` and `\\` as what
    /// curl and others write; a backslash that the name ends in is its own. Bytes that are not UTF-8 are read as ISO-8859-1.
    public let name: String?
    /// The file name in Content-Disposition, read as ``name`` is; nil if there is none. `filename*` (RFC 8187) comes before
    /// `filename`.
    ///
    /// It is what the other side wrote, with any slashes and dots in it: it is no path to write to.
    public let fileName: String?
    /// In how many other parts this one stands; 0 unless nested bodies are read.
    public let depth: Int

    init(headerFields: HTTPFields, depth: Int) {
        let disposition = headerFields[fields: .contentDisposition].first.flatMap(ContentDisposition.init)
        self.headerFields = headerFields
        name = disposition?.name
        fileName = disposition?.fileName
        self.depth = depth
    }

    /// The content type; nil if there is none, which means `text/plain`, or if it is no media type.
    public var contentType: MediaType? { headerFields[.contentType].flatMap(MediaType.init(contentType:)) }

    /// Which bytes of a representation the part is, in a `multipart/byteranges` body (RFC 9110, section 14.6); nil if it
    /// does not say so.
    public var byteRange: MultipartByteRange? { headerFields[.contentRange].flatMap(MultipartByteRange.init) }
}

/// Which bytes a part of a `multipart/byteranges` body is, by its Content-Range (RFC 9110, section 14.4).
public struct MultipartByteRange: Sendable, Hashable {
    /// The bytes' offsets.
    public let bytes: ClosedRange<Int64>
    /// How many bytes there are altogether; nil if the server does not know.
    public let completeLength: Int64?

    /// Reads a field's value such as `bytes 0-499/1234`; nil if it is something else.
    public init?(_ text: String) {
        let words = text.utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 })
        guard words.count == 2, String(words[0])?.lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(Self.number)
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last,
            // Nobody has so many bytes, and their number would be more than an Int64 holds.
            last < .max
        else { return nil }
        let isUnknown = halves[1].elementsEqual("*".utf8)
        let length = Self.number(halves[1])
        guard isUnknown || length.map({ $0 > last }) == true else { return nil }
        bytes = first...last
        completeLength = length
    }

    /// Digits alone, where `Int64` would take a sign.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(Substring(digits))
    }
}

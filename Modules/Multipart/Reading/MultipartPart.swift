public import FoundationEssentials
public import HTTPTypes
public import LinnetMessages

/// A parsed part with its whole content.
public struct MultipartPart: Sendable, Hashable {
    /// The header.
    public let head: MultipartPart.Head
    /// The content as received, without decoding a Content-Transfer-Encoding. Empty if the content was parsed into
    /// ``parts``.
    public internal(set) var body = Data()
    /// The parts within this one, if nested bodies are parsed.
    public internal(set) var parts: [MultipartPart] = []

    init(head: MultipartPart.Head) { self.head = head }

    /// The header's fields.
    public var headerFields: HTTPFields { head.headerFields }
    /// The name in Content-Disposition; see ``MultipartPart/Head/name``.
    public var name: String? { head.name }
    /// The file name in Content-Disposition; see ``MultipartPart/Head/fileName``.
    public var fileName: String? { head.fileName }
    /// The content type; see ``MultipartPart/Head/contentType``.
    public var contentType: MIMEType? { head.contentType }
    /// The byte range; see ``MultipartPart/Head/byteRange``.
    public var byteRange: MultipartPart.ByteRange? { head.byteRange }

    /// Parses a whole body.
    ///
    /// - Parameters:
    ///   - body: The bytes.
    ///   - contentType: The value of Content-Type.
    ///   - limits: The limits for the body.
    ///   - readsNestedParts: Whether multipart parts are parsed. The default is false.
    /// - Throws: ``MultipartError`` with the codes of ``MultipartParser``.
    public static func all(
        in body: Data, contentType: String, limits: MultipartParser.Limits = MultipartParser.Limits(),
        readsNestedParts: Bool = false
    ) throws(MultipartError) -> [MultipartPart] {
        var parser = try MultipartParser(contentType: contentType, limits: limits, readsNestedParts: readsNestedParts)
        var assembly = MultipartAssembly()
        parser.push(body)
        while let event = try parser.next() { assembly.add(event) }
        try parser.finish()
        return assembly.parts
    }
}

/// Assembles parts from events.
struct MultipartAssembly {
    private(set) var parts: [MultipartPart] = []
    /// The open parts, outermost first.
    private var open: [MultipartPart] = []

    mutating func add(_ event: MultipartParser.Event) {
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

extension MultipartPart {
    /// The header of a parsed part.
    public struct Head: Sendable, Hashable {
        /// The header fields in order. Folded lines are joined with a space.
        public let headerFields: HTTPFields
        /// The name in Content-Disposition; nil if there is none.
        ///
        /// In a form, the escapes of the WHATWG form standard (`%22`, `%0D`, `%0A`) and of curl (`\"`, `\\`) are
        /// decoded. Backslashes are literal in a name with a backslash that escapes nothing, at its end or before
        /// another character. A name with backslashes only in pairs, such as `\\server`, is read as curl's, and loses
        /// one of each pair if its writer did not escape them. Bytes that are not UTF-8 are decoded as ISO-8859-1.
        public let name: String?
        /// The file name in Content-Disposition, decoded as ``name``; nil if there is none. `filename*` (RFC 8187) has
        /// priority over `filename`.
        ///
        /// The peer chose it, including any slashes and dots. Do not use it as a path.
        public let fileName: String?
        /// The number of parts around this one; 0 unless nested bodies are parsed.
        public let depth: Int

        init(headerFields: HTTPFields, depth: Int) {
            let disposition = headerFields[fields: .contentDisposition].first.flatMap(ContentDisposition.init)
            self.headerFields = headerFields
            name = disposition?.name
            fileName = disposition?.fileName
            self.depth = depth
        }

        /// The content type; nil if it is missing, which means `text/plain`, or malformed.
        public var contentType: MIMEType? { headerFields[.contentType].flatMap(MIMEType.init(contentType:)) }

        /// The byte range of a part in a `multipart/byteranges` body (RFC 9110, section 14.6); nil if there is none.
        public var byteRange: MultipartPart.ByteRange? {
            headerFields[.contentRange].flatMap(MultipartPart.ByteRange.init)
        }
    }
}

extension MultipartPart {
    /// The range of bytes in a part of a `multipart/byteranges` body, from Content-Range (RFC 9110, section 14.4).
    public struct ByteRange: Sendable, Hashable {
        /// The offsets of the bytes.
        public let bytes: ClosedRange<Int64>
        /// The length of the whole representation; nil if the server does not know it.
        public let completeLength: Int64?

        /// Parses a value such as `bytes 0-499/1234`; nil if it is malformed.
        public init?(_ text: String) {
            let words = text.utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 })
            guard words.count == 2, String(words[0])?.lowercased() == "bytes" else { return nil }
            let halves = words[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            guard halves.count == 2 else { return nil }
            let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(Self.number)
            guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last,
                // Otherwise the number of bytes would overflow Int64.
                last < .max
            else { return nil }
            let isUnknown = halves[1].elementsEqual("*".utf8)
            let length = Self.number(halves[1])
            guard isUnknown || length.map({ $0 > last }) == true else { return nil }
            bytes = first...last
            completeLength = length
        }

        /// Parses digits only; `Int64` would accept a sign.
        private static func number(_ digits: Substring.UTF8View) -> Int64? {
            guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int64(Substring(digits))
        }
    }
}

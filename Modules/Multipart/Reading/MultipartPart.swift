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

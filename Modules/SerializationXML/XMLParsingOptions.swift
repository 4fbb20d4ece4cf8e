/// The limits of what is read as XML.
///
/// Two things are not options. Nothing outside the document is ever loaded, and a document that declares entities is
/// refused: a few lines of them can grow to gigabytes.
public struct XMLParsingOptions: Sendable, Hashable, Codable {
    /// How deep elements may be nested; the default is 256, the highest is 1024.
    ///
    /// The XML library may stop before.
    public var maximumDepth: Int {
        // Decoding sets what is stored, whatever it is.
        get { Self.clamp(depth) }
        set { depth = Self.clamp(newValue) }
    }
    /// How many elements and attributes a document may have; the default is a million.
    public var maximumNodes: Int
    /// How many bytes texts and attributes may have in all, as a multiple of the document's; the default is 2.
    ///
    /// Without entities they have no more than the document, and up to twice as many where it is not in UTF-8. What
    /// goes beyond comes from entities that an unusual encoding has hidden.
    public var maximumExpansion: Int

    private var depth: Int

    /// Creates options.
    public init(maximumDepth: Int = 256, maximumNodes: Int = 1_000_000, maximumExpansion: Int = 2) {
        depth = Self.clamp(maximumDepth)
        self.maximumNodes = maximumNodes
        self.maximumExpansion = maximumExpansion
    }

    private static func clamp(_ depth: Int) -> Int { min(max(depth, 1), 1024) }

    /// How many bytes of text a document of so many may have.
    func budget(for count: Int) -> Int {
        let (product, overflowed) = count.multipliedReportingOverflow(by: max(maximumExpansion, 1))
        return overflowed ? .max : product
    }
}

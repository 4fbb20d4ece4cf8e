/// How a property list is read.
public struct PropertyListParsingOptions: Sendable, Hashable, Codable {
    /// How deep arrays and dictionaries may be nested; the default and the highest is 512.
    public var maximumDepth: Int {
        // Decoding sets what is stored, whatever it is.
        get { Self.clamp(depth) }
        set { depth = Self.clamp(newValue) }
    }
    /// How many times as large as its bytes the tree may become; the default is 16.
    ///
    /// A binary property list can use one object in many places: a few hundred bytes of arrays within arrays stand for
    /// more than any memory holds. Each value counts as one byte, and texts and data as many as they have.
    public var maximumExpansion: Int

    private var depth: Int

    /// Creates options.
    public init(maximumDepth: Int = 512, maximumExpansion: Int = 16) {
        depth = Self.clamp(maximumDepth)
        self.maximumExpansion = maximumExpansion
    }

    private static func clamp(_ depth: Int) -> Int { min(max(depth, 0), 512) }

    /// What the tree of so many bytes may take.
    func budget(for count: Int) -> Int {
        let (product, overflowed) = count.multipliedReportingOverflow(by: max(maximumExpansion, 1))
        return overflowed ? .max : product
    }
}

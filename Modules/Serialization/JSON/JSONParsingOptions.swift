/// How a JSON text is read into a ``JSONValue``.
public struct JSONParsingOptions: Sendable, Hashable {
    /// How deep arrays and objects may be nested; the default is 512, the highest is 1024.
    ///
    /// The ceiling keeps hostile texts from using up a thread's stack, when the tree is read and when it is released.
    public var maximumDepth: Int {
        get { depth }
        set { depth = min(max(newValue, 0), 1024) }
    }
    /// Whether the value at the top may be something else than an object or an array; the default is true (RFC 8259).
    public var allowsFragments: Bool

    private var depth: Int

    /// Creates options.
    public init(maximumDepth: Int = 512, allowsFragments: Bool = true) {
        depth = min(max(maximumDepth, 0), 1024)
        self.allowsFragments = allowsFragments
    }
}

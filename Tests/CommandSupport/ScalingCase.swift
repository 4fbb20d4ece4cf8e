public import Testing

/// Work on a text of any length, for tests of its growth.
public struct ScalingCase: Sendable, CustomTestStringConvertible {
    /// The name of the text.
    public let testDescription: String
    /// The smaller size; it should take some milliseconds.
    public let count: Int
    /// Creates the text of a given size.
    public let make: @Sendable (Int) -> String
    /// Performs the work.
    public let work: @Sendable (String) throws -> Void

    /// Creates a case.
    public init(
        _ name: String, _ count: Int, _ make: @escaping @Sendable (Int) -> String,
        _ work: @escaping @Sendable (String) throws -> Void
    ) {
        (testDescription, self.count, self.make, self.work) = (name, count, make, work)
    }
}

/// Creates a text that is repeated.
public func repeated(_ text: String) -> @Sendable (Int) -> String {
    { String(repeating: text, count: $0) }
}

/// Creates a text that is repeated, with the numbers from 0 in it.
public func numbered(_ before: String, _ after: String) -> @Sendable (Int) -> String {
    { (0..<$0).map { "\(before)\($0)\(after)" }.joined() }
}

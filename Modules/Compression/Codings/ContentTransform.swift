/// Decodes or encodes one content, step by step. Each coding has one for each direction.
///
/// It is used by one task at a time, and not any more after it has thrown.
public protocol ContentTransform: AnyObject {
    /// Takes bytes of the content, and writes what they become.
    ///
    /// A step that fills its room is followed by another, with what is left of the input, which may be empty.
    ///
    /// - Parameters:
    ///   - input: The bytes that follow those that earlier steps have read; empty if none are there.
    ///   - isEnd: Whether the content ends with these bytes. Only encoders are told; false does not mean that bytes follow.
    ///   - output: The room for the result, which is not empty.
    /// - Returns: What was read and written. A step that could do neither needs more input.
    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep
}

/// What one step of a ``ContentTransform`` has done.
public struct ContentStep: Sendable, Hashable {
    /// The number of bytes that were read from the input.
    public var read: Int
    /// The number of bytes that were written to the output.
    public var written: Int
    /// Whether the content may end after the bytes that were read, all of whose output was written.
    public var isComplete: Bool

    /// Creates a step.
    public init(read: Int, written: Int, isComplete: Bool) {
        self.read = read
        self.written = written
        self.isComplete = isComplete
    }
}

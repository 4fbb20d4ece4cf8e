/// Decodes or encodes one content step by step. Each coding has a transform for each direction.
///
/// A transform is used by one task at a time, and not after it has thrown.
public protocol ContentTransform: AnyObject {
    /// Reads bytes of the content, and writes the result.
    ///
    /// A step that fills its output is followed by another one with the rest of the input, which may be empty.
    ///
    /// - Parameters:
    ///   - input: The bytes that earlier steps have not read yet; may be empty.
    ///   - isEnd: Whether the content ends with these bytes. Only encoders receive true; false does not mean that more
    ///     bytes follow.
    ///   - output: The buffer for the result, which is not empty.
    /// - Returns: The numbers of read and written bytes. A step that did neither needs more input.
    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep
}

/// The result of a step of a ``ContentTransform``.
public struct ContentStep: Sendable, Hashable {
    /// The number of bytes read from the input.
    public var read: Int
    /// The number of bytes written to the output.
    public var written: Int
    /// Whether the content may end after the read bytes, all of whose output was written.
    public var isComplete: Bool

    /// Creates a step.
    public init(read: Int, written: Int, isComplete: Bool) {
        self.read = read
        self.written = written
        self.isComplete = isComplete
    }
}

/// Decodes the zlib format (RFC 1950), or the raw deflate format (RFC 1951).
///
/// The first two bytes distinguish them. In the zlib format, they are divisible by 31 and begin with the method 8. In
/// raw deflate, this would be a stored block with set bits that encoders leave clear.
final class DeflateDecoder: ContentTransform {
    private var head: [UInt8] = []
    private var stream: ZlibStream?
    private var isAtEnd = false

    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        guard !isAtEnd else {
            guard input.isEmpty else { throw .trailingBytes("deflate") }
            return ContentStep(read: 0, written: 0, isComplete: true)
        }
        guard let stream else { return try begin(input, output) }
        let step = try ContentStep.inflating(stream.step(input, isEnd: false, into: output), "deflate", stream)
        isAtEnd = step.isComplete
        return step
    }

    /// Takes the first bytes, and begins decoding once they determine the format.
    private func begin(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        var read = 0
        while read < input.count, format == nil {
            head.append(input[read])
            read += 1
        }
        guard let format else { return ContentStep(read: read, written: 0, isComplete: false) }
        let stream = try ZlibStream(.inflate, format)
        self.stream = stream
        let result = head.withUnsafeBytes { stream.step($0, isEnd: false, into: output) }
        let step = try ContentStep.inflating(result, "deflate", stream)
        isAtEnd = step.isComplete
        return ContentStep(read: read, written: step.written, isComplete: step.isComplete)
    }

    private var format: ZlibFormat? {
        guard let first = head.first else { return nil }
        guard first & 0x0F == 8, first >> 4 <= 7 else { return .deflate }
        guard head.count == 2 else { return nil }
        return (Int(first) << 8 | Int(head[1])) % 31 == 0 ? .zlib : .deflate
    }
}

/// Decodes the gzip format (RFC 1952). zlib verifies the checksum and the length of the content, and the optional
/// checksum of the header.
final class GzipDecoder: ContentTransform {
    private let stream: ZlibStream
    private var members = 0
    /// Whether the last byte ended a member.
    private var isBetweenMembers = false

    init() throws(CompressionError) {
        stream = try ZlibStream(.inflate, .gzip)
    }

    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        if isBetweenMembers {
            guard let first = input.first else { return ContentStep(read: 0, written: 0, isComplete: true) }
            guard first == 0x1F else { throw .trailingBytes("gzip") }
            stream.reset()
            isBetweenMembers = false
        }
        let result = stream.step(input, isEnd: false, into: output)
        if members > 0, stream.message == "incorrect header check" { throw .trailingBytes("gzip") }
        let step = try ContentStep.inflating(result, "gzip", stream)
        if step.isComplete {
            members += 1
            isBetweenMembers = true
        }
        return step
    }
}

internal import CZlib

/// The formats of zlib, with zlib's numbers for them and the largest window.
enum ZlibFormat: Int32 {
    case deflate = -15
    case zlib = 15
    case gzip = 31
}

/// A stream of zlib's `inflate` or `deflate`, freed with the object.
final class ZlibStream {
    enum Direction {
        case inflate
        case deflate(level: Int32)
    }

    /// The stream needs a fixed address, because zlib refers back to it.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let direction: Direction
    private let isOpen: Bool

    init(_ direction: Direction, _ format: ZlibFormat) throws(CompressionError) {
        self.direction = direction
        stream.initialize(to: z_stream())
        let status =
            switch direction {
            case .inflate: linnet_inflate_init(stream, format.rawValue)
            case .deflate(let level): linnet_deflate_init(stream, level, format.rawValue)
            }
        isOpen = status == Z_OK
        guard isOpen else { throw .libraryFailed("zlib", "it cannot start (\(status))") }
    }

    deinit {
        if isOpen {
            switch direction {
            case .inflate: inflateEnd(stream)
            case .deflate: deflateEnd(stream)
            }
        }
        stream.deallocate()
    }

    /// zlib's message about its last error.
    var message: String? { stream.pointee.msg.map { String(cString: $0) } }

    /// Prepares for another content of the same format.
    func reset() { inflateReset(stream) }

    /// Performs one step; `isComplete` of the result tells whether the content has ended.
    ///
    /// - Returns: zlib's status and the step.
    func step(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) -> (status: Int32, step: ContentStep) {
        let (readable, writable) = (min(input.count, Int(Int32.max)), min(output.count, Int(Int32.max)))
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(readable)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(writable)
        let status =
            switch direction {
            case .inflate: inflate(stream, Z_NO_FLUSH)
            case .deflate: deflate(stream, isEnd && readable == input.count ? Z_FINISH : Z_NO_FLUSH)
            }
        let step = ContentStep(
            read: readable - Int(stream.pointee.avail_in), written: writable - Int(stream.pointee.avail_out),
            isComplete: status == Z_STREAM_END)
        return (status, step)
    }
}

/// Encodes in one of zlib's formats.
final class DeflateEncoder: ContentTransform {
    private let stream: ZlibStream

    init(_ format: ZlibFormat) throws(CompressionError) {
        stream = try ZlibStream(.deflate(level: Z_DEFAULT_COMPRESSION), format)
    }

    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        let (status, step) = stream.step(input, isEnd: isEnd, into: output)
        // Z_BUF_ERROR means that there was nothing to do.
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
            throw .libraryFailed("zlib", "it cannot encode (\(status))")
        }
        return step
    }
}

extension ContentStep {
    /// Interprets a step of `inflate`; throws for invalid content.
    static func inflating(_ result: (status: Int32, step: ContentStep), _ coding: String, _ stream: ZlibStream)
        throws(CompressionError) -> ContentStep
    {
        switch result.status {
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: return result.step
        case Z_NEED_DICT: throw .invalidData(coding, "it needs a dictionary")
        case Z_DATA_ERROR: throw .invalidData(coding, stream.message)
        default: throw .libraryFailed("zlib", stream.message ?? "it cannot decode (\(result.status))")
        }
    }
}

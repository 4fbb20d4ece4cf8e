internal import CZstd
internal import LinnetCompression

/// Decodes the Zstandard format.
final class ZstandardDecoder: ContentTransform {
    /// The exponent of the largest window: 8 MiB.
    private static let maximumWindow: Int32 = 23

    private let context: OpaquePointer
    private var magic = FrameMagic()
    private var frames = 0
    private var isComplete = false

    init() throws(CompressionError) {
        guard let context = ZSTD_createDCtx() else { throw .libraryFailed("zstd", "it cannot start") }
        self.context = context
        guard ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.maximumWindow)) == 0 else {
            throw .libraryFailed("zstd", "it cannot limit its memory")
        }
    }

    deinit { ZSTD_freeDCtx(context) }

    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        guard !isComplete || !input.isEmpty else { return ContentStep(read: 0, written: 0, isComplete: true) }
        guard magic.accepts(input) else {
            if frames > 0 { throw .trailingBytes("zstd") }
            throw .invalidData("zstd", "it does not begin with a frame")
        }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(context, &target, &source)
        guard ZSTD_isError(result) == 0 else { throw failure(result) }
        isComplete = result == 0
        if isComplete {
            frames += 1
            magic = FrameMagic()
        } else {
            magic.advance(by: source.pos)
        }
        return ContentStep(read: source.pos, written: target.pos, isComplete: isComplete)
    }

    private func failure(_ result: Int) -> CompressionError {
        let reason = String(cString: ZSTD_getErrorName(result))
        switch ZSTD_getErrorCode(result) {
        case ZSTD_error_frameParameter_windowTooLarge:
            return CompressionError(
                code: .windowTooLarge, message: "The content in the coding zstd needs a window of more than 8 MiB.")
        case ZSTD_error_memory_allocation: return .libraryFailed("zstd", reason)
        default: return .invalidData("zstd", reason)
        }
    }
}

/// The first four bytes of a frame. They are checked because the library also accepts formats that RFC 8878 does not
/// define.
struct FrameMagic {
    private static let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    private static let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18]

    private var position = 0
    private var isSkippable = false

    /// Whether these bytes may stand at the current position in a frame.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard position < Self.frame.count else { return true }
        if position == 0, let first = bytes.first { isSkippable = first & 0xF0 == 0x50 }
        let expected = isSkippable ? Self.skippable : Self.frame
        return zip(position..<expected.count, bytes).allSatisfy { index, byte in
            // The last four bits of the first byte of a skippable frame are free for the encoder.
            isSkippable && index == 0 || byte == expected[index]
        }
    }

    mutating func advance(by count: Int) { position = min(position + count, Self.frame.count) }
}

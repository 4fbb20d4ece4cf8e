internal import CZstd
internal import LinnetCompression

/// Encodes in the Zstandard format, in one frame with a checksum.
final class ZstandardEncoder: ContentTransform {
    private let context: OpaquePointer

    init() throws(CompressionError) {
        guard let context = ZSTD_createCCtx() else { throw .libraryFailed("zstd", "it cannot start") }
        self.context = context
        guard ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)) == 0 else {
            throw .libraryFailed("zstd", "it cannot add checksums")
        }
    }

    deinit { ZSTD_freeCCtx(context) }

    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_compressStream2(context, &target, &source, isEnd ? ZSTD_e_end : ZSTD_e_continue)
        guard ZSTD_isError(result) == 0 else {
            throw .libraryFailed("zstd", String(cString: ZSTD_getErrorName(result)))
        }
        return ContentStep(read: source.pos, written: target.pos, isComplete: isEnd && result == 0)
    }
}

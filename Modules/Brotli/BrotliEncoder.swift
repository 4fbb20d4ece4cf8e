internal import CBrotli
internal import LinnetCompression

/// Encodes in the Brotli format, with a window of 4 MiB.
final class BrotliEncoder: ContentTransform {
    private static let quality: UInt32 = 5

    private let state: OpaquePointer

    init() throws(CompressionError) {
        guard let state = BrotliEncoderCreateInstance(nil, nil, nil) else {
            throw .libraryFailed("br", "it cannot start")
        }
        self.state = state
        BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, Self.quality)
    }

    deinit { BrotliEncoderDestroyInstance(state) }

    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        var (readable, writable) = (input.count, output.count)
        var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let operation = isEnd ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS
        guard
            BrotliEncoderCompressStream(state, operation, &readable, &source, &writable, &target, nil) == BROTLI_TRUE
        else { throw .libraryFailed("br", "it cannot encode") }
        return ContentStep(
            read: input.count - readable, written: output.count - writable,
            isComplete: BrotliEncoderIsFinished(state) == BROTLI_TRUE)
    }
}

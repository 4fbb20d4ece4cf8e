internal import CBrotli
internal import LinnetCompression

/// Decodes the Brotli format. Its own limit for windows applies: the library's extension for larger ones is off.
final class BrotliDecoder: ContentTransform {
    private let state: OpaquePointer
    private var isAtEnd = false

    init() throws(CompressionError) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
            throw .libraryFailed("br", "it cannot start")
        }
        self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    func transform(
        _ input: UnsafeRawBufferPointer, isEnd: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> ContentStep {
        guard !isAtEnd else {
            guard input.isEmpty else { throw .trailingBytes("br") }
            return ContentStep(read: 0, written: 0, isComplete: true)
        }
        var (readable, writable) = (input.count, output.count)
        var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = BrotliDecoderDecompressStream(state, &readable, &source, &writable, &target, nil)
        guard result != BROTLI_DECODER_RESULT_ERROR else { throw failure }
        isAtEnd = result == BROTLI_DECODER_RESULT_SUCCESS
        return ContentStep(read: input.count - readable, written: output.count - writable, isComplete: isAtEnd)
    }

    private var failure: CompressionError {
        let code = BrotliDecoderGetErrorCode(state)
        let reason = BrotliDecoderErrorString(code).map { String(cString: $0) }
        // The codes for lack of memory and other failures of the library follow the codes of the format.
        guard code.rawValue > BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES.rawValue else {
            return .libraryFailed("br", reason ?? "it cannot decode")
        }
        return .invalidData("br", reason)
    }
}

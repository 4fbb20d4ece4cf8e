public import LinnetCompression

extension ContentCoding {
    /// The Brotli format (RFC 7932), with its windows of up to 16 MiB. Its name is `br`.
    ///
    /// Encoders use the quality 5 of 11, a common choice for content that is compressed while it is sent.
    public static let brotli = ContentCoding(
        "br", makeDecoder: { () throws(CompressionError) -> any ContentTransform in try BrotliDecoder() },
        makeEncoder: { () throws(CompressionError) -> any ContentTransform in try BrotliEncoder() })
}

public import LinnetCompression

extension ContentCoding {
    /// The Brotli format (RFC 7932), with windows of up to 16 MiB as it defines them. Its name is `br`.
    ///
    /// Encoders use the quality 5 of 11, which is common for content that is made as it is sent.
    public static let brotli = ContentCoding(
        "br", makeDecoder: { () throws(CompressionError) -> any ContentTransform in try BrotliDecoder() },
        makeEncoder: { () throws(CompressionError) -> any ContentTransform in try BrotliEncoder() })
}

public import LinnetCompression

extension ContentCoding {
    /// The Zstandard format (RFC 8878) with any number of frames, and with windows of at most 8 MiB (RFC 9659, section 3). Its name
    /// is `zstd`.
    ///
    /// Checksums of frames that have one are verified. Frames with a dictionary and those of formats before RFC 8878 are not valid.
    /// Encoders use the library's usual level, 3.
    public static let zstandard = ContentCoding(
        "zstd", makeDecoder: { () throws(CompressionError) -> any ContentTransform in try ZstandardDecoder() },
        makeEncoder: { () throws(CompressionError) -> any ContentTransform in try ZstandardEncoder() })
}

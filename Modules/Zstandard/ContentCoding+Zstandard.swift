public import LinnetCompression

extension ContentCoding {
    /// The Zstandard format (RFC 8878) with any number of frames, and with windows of at most 8 MiB (RFC 9659, section
    /// 3). Its name is `zstd`.
    ///
    /// The optional checksums of frames are verified. Frames with a dictionary, and frames in formats before RFC 8878,
    /// are invalid. Encoders use the library's usual level, 3.
    public static let zstandard = ContentCoding(
        "zstd", makeDecoder: { () throws(CompressionError) -> any ContentTransform in try ZstandardDecoder() },
        makeEncoder: { () throws(CompressionError) -> any ContentTransform in try ZstandardEncoder() })
}

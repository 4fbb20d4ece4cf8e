internal import LinnetMessages

/// The limits for the decoded size of content.
public struct DecodingLimits: Sendable, Hashable {
    /// The number of bytes that may be decoded whatever their ratio: 1 MiB.
    static let sizeWithoutRatio: Int64 = 1 << 20

    /// The largest size of decoded content, in bytes. The default is nil: no limit. Exceeding it is
    /// ``CompressionError/Code/sizeExceeded``.
    public var maximumSize: Int64?
    /// The largest number of decoded bytes for each coded byte, once more than 1 MiB was decoded. It applies to each of
    /// several codings. The default is 1,000: zeros exceed it in every coding, content of real programs does not. Nil
    /// is no limit. Exceeding it is ``CompressionError/Code/ratioExceeded``.
    public var maximumRatio: Int? = 1000
    /// The largest number of codings of one content. The default is 5. Exceeding it is
    /// ``CompressionError/Code/tooManyCodings``.
    public var maximumCodings = 5

    /// Creates the default limits.
    public init() {}

    /// Creates limits that a function sets.
    public init(_ configure: (inout DecodingLimits) throws -> Void) rethrows {
        try configure(&self)
    }
}

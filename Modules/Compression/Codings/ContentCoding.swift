/// A content coding (RFC 9110, section 8.4.1): its name and its codecs.
///
/// ```swift
/// let small = try ContentCoding.gzip.encoded(Data(text.utf8))
/// let text = try ContentCoding.gzip.decoded(small)
/// ```
/// Codings with the same name are equal. Importing LinnetBrotli adds `.brotli`, and importing LinnetZstandard
/// `.zstandard`.
public struct ContentCoding: Sendable {
    /// Makes a decoder or encoder for one content.
    public typealias TransformMaker = @Sendable () throws(CompressionError) -> any ContentTransform

    /// The name in Content-Encoding and Accept-Encoding, in lower case.
    public let name: String
    /// Other names for the coding in Content-Encoding.
    public let aliases: [String]
    let makeDecoder: TransformMaker
    let makeEncoder: TransformMaker?

    /// Creates a coding.
    ///
    /// - Parameters:
    ///   - name: The name, a token (RFC 9110, section 5.6.2).
    ///   - aliases: Other names for the coding in Content-Encoding. The default is none.
    ///   - makeDecoder: Makes a decoder for one content.
    ///   - makeEncoder: Makes an encoder for one content. The default is nil, for a coding that can only be decoded.
    public init(
        _ name: String, aliases: [String] = [], makeDecoder: @escaping TransformMaker,
        makeEncoder: TransformMaker? = nil
    ) {
        self.name = name.lowercased()
        self.aliases = aliases.map { $0.lowercased() }
        self.makeDecoder = makeDecoder
        self.makeEncoder = makeEncoder
    }

    /// The gzip format (RFC 1952) with any number of members. Checksums and lengths are verified. Its other name is
    /// `x-gzip`.
    public static let gzip = ContentCoding(
        "gzip", aliases: ["x-gzip"],
        makeDecoder: { () throws(CompressionError) -> any ContentTransform in try GzipDecoder() },
        makeEncoder: { () throws(CompressionError) -> any ContentTransform in try DeflateEncoder(.gzip) })

    /// The zlib format (RFC 1950) with its checksum. Raw deflate (RFC 1951), which some servers send under this name,
    /// is decoded too.
    public static let deflate = ContentCoding(
        "deflate", makeDecoder: { () throws(CompressionError) -> any ContentTransform in DeflateDecoder() },
        makeEncoder: { () throws(CompressionError) -> any ContentTransform in try DeflateEncoder(.zlib) })
}

extension ContentCoding: Hashable, CustomStringConvertible {
    /// The name.
    public var description: String { name }

    /// Whether the codings have the same name.
    public static func == (one: ContentCoding, other: ContentCoding) -> Bool { one.name == other.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

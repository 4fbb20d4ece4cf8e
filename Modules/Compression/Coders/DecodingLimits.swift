internal import LinnetMessages

/// The limits on what content may become when its codings are undone.
public struct DecodingLimits: Sendable, Hashable {
    /// So many bytes may be decoded whatever their ratio: 1 MiB.
    static let sizeWithoutRatio: Int64 = 1 << 20

    /// The most bytes of decoded content. The default is nil: no limit.
    public var maximumSize: Int64?
    /// The most bytes for each byte of coded content, in content of which more than 1 MiB was decoded; it applies to each coding of
    /// several. The default is 1,000, which zeros exceed in every coding, and what programs send does not. Nil is no limit.
    public var maximumRatio: Int? = 1000
    /// The most codings that content may have at once. The default is 5.
    public var maximumCodings = 5

    /// Creates the defaults.
    public init() {}

    /// Creates limits that a function sets.
    public init(_ configure: (inout DecodingLimits) throws -> Void) rethrows {
        try configure(&self)
    }
}

/// Coded as an object with the names of the properties, and null for no limit. What is left out has its default; unknown keys are an
/// error.
extension DecodingLimits: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case maximumSize, maximumRatio, maximumCodings }

    /// Decodes limits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        maximumSize = try container.decodeIfPresent(Int64.self, forKey: .maximumSize)
        if container.contains(.maximumRatio) {
            maximumRatio = try container.decode(Int?.self, forKey: .maximumRatio)
        }
        maximumCodings = try container.decodeIfPresent(Int.self, forKey: .maximumCodings) ?? maximumCodings
    }

    /// Encodes the limits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(maximumSize, forKey: .maximumSize)
        try container.encode(maximumRatio, forKey: .maximumRatio)
        try container.encode(maximumCodings, forKey: .maximumCodings)
    }
}

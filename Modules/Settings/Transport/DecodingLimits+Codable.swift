public import LinnetCompression
internal import LinnetMessages

/// Coded as an object with the names of the properties, and null for no limit. Missing keys have the defaults; unknown
/// keys are an error.
extension DecodingLimits: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case maximumSize, maximumRatio, maximumCodings }

    /// Decodes limits.
    public init(from decoder: any Decoder) throws {
        self.init()
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

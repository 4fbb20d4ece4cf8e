internal import LinnetMessages
public import LinnetSession

/// The coded form is an object with the names of the properties. A missing member has the value of `follow`; unknown
/// keys are an error.
extension RedirectPolicy: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case limit, staysAtOrigin }

    /// Decodes a policy.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        self = .follow(limit: try container.decodeIfPresent(Int.self, forKey: .limit) ?? Self.follow.limit)
        staysAtOrigin = try container.decodeIfPresent(Bool.self, forKey: .staysAtOrigin) ?? staysAtOrigin
    }

    /// Encodes the policy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(limit, forKey: .limit)
        try container.encode(staysAtOrigin, forKey: .staysAtOrigin)
    }
}

internal import LinnetMessages
public import LinnetTransport

/// Coded as an object with the names of the properties; versions are `"1.2"` and `"1.3"`. Missing keys have the
/// defaults; unknown keys are an error.
///
/// `keyLog` is left out: keys are logged only where a program asks for it, and no configuration file can.
extension TransportConfiguration.TLS: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case minimumVersion, maximumVersion, cipherList, cipherSuites, groups, signatureAlgorithms, sessionResumption
    }

    /// Decodes options.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        minimumVersion = try container.decodeIfPresent(Version.self, forKey: .minimumVersion) ?? minimumVersion
        maximumVersion = try container.decodeIfPresent(Version.self, forKey: .maximumVersion) ?? maximumVersion
        cipherList = try container.decodeIfPresent(String.self, forKey: .cipherList)
        cipherSuites = try container.decodeIfPresent(String.self, forKey: .cipherSuites)
        groups = try container.decodeIfPresent(String.self, forKey: .groups)
        signatureAlgorithms = try container.decodeIfPresent(String.self, forKey: .signatureAlgorithms)
        sessionResumption = try container.decodeIfPresent(Bool.self, forKey: .sessionResumption) ?? sessionResumption
    }

    /// Encodes the options, without `keyLog`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(minimumVersion, forKey: .minimumVersion)
        try container.encode(maximumVersion, forKey: .maximumVersion)
        try container.encodeIfPresent(cipherList, forKey: .cipherList)
        try container.encodeIfPresent(cipherSuites, forKey: .cipherSuites)
        try container.encodeIfPresent(groups, forKey: .groups)
        try container.encodeIfPresent(signatureAlgorithms, forKey: .signatureAlgorithms)
        try container.encode(sessionResumption, forKey: .sessionResumption)
    }
}

/// Coded as `"1.2"` or `"1.3"`.
extension TransportConfiguration.TLS.Version: Codable {
    private enum Name: String, Codable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    /// Decodes a version.
    public init(from decoder: any Decoder) throws {
        self =
            switch try decoder.singleValueContainer().decode(Name.self) {
            case .tls12: .tls12
            case .tls13: .tls13
            }
    }

    /// Encodes the version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .tls12: try container.encode(Name.tls12)
        case .tls13: try container.encode(Name.tls13)
        }
    }
}

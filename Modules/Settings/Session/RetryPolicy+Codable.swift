internal import HTTPTypes
internal import LinnetMessages
public import LinnetSession

/// Coded as an object with the names of the properties; durations are numbers of seconds, error codes their names.
/// Missing keys have the defaults; unknown keys are an error.
extension RetryPolicy: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, methods, statusCodes, errorCodes, backoff, maximumRetryAfter
    }

    /// Decodes a policy.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        self.init(limit: try container.decodeIfPresent(Int.self, forKey: .limit) ?? 0)
        if let names = try container.decodeIfPresent([String].self, forKey: .methods) {
            methods = Set(
                try names.map { name in
                    if let method = HTTPRequest.Method(name) { return method }
                    throw DecodingError.dataCorruptedError(
                        forKey: .methods, in: container, debugDescription: "\(name.debugDescription) is not a method.")
                })
        }
        statusCodes = try container.decodeIfPresent(Set<Int>.self, forKey: .statusCodes) ?? statusCodes
        errorCodes = try container.decodeIfPresent(Set<SessionError.Code>.self, forKey: .errorCodes) ?? errorCodes
        backoff = try container.decodeIfPresent(Backoff.self, forKey: .backoff) ?? backoff
        maximumRetryAfter = try container.seconds(.maximumRetryAfter) ?? maximumRetryAfter
    }

    /// Encodes the policy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(limit, forKey: .limit)
        try container.encode(methods.map(\.rawValue).sorted(), forKey: .methods)
        try container.encode(statusCodes.sorted(), forKey: .statusCodes)
        try container.encode(errorCodes.sorted { $0.description < $1.description }, forKey: .errorCodes)
        try container.encode(backoff, forKey: .backoff)
        try container.encode(seconds: maximumRetryAfter, forKey: .maximumRetryAfter)
    }
}

/// Coded as an object with the names of the properties. Missing keys have the defaults; unknown keys are an error.
extension RetryBudget: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case share, minimumPerSecond }

    /// Decodes a budget.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        share = try container.decodeIfPresent(Double.self, forKey: .share) ?? share
        minimumPerSecond = try container.decodeIfPresent(Int.self, forKey: .minimumPerSecond) ?? minimumPerSecond
    }

    /// Encodes the budget.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(share, forKey: .share)
        try container.encode(minimumPerSecond, forKey: .minimumPerSecond)
    }
}

/// Coded as an object with the names of the properties; the delay is a number of seconds, and must not be missing.
/// Unknown keys are an error.
extension HedgingPolicy: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case delay, maximumAttempts }

    /// Decodes a policy.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        guard let delay = try container.seconds(.delay) else {
            throw DecodingError.keyNotFound(
                CodingKeys.delay, .init(codingPath: container.codingPath, debugDescription: "There is no delay."))
        }
        self.init(after: delay)
        maximumAttempts = try container.decodeIfPresent(Int.self, forKey: .maximumAttempts) ?? maximumAttempts
    }

    /// Encodes the policy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seconds: delay, forKey: .delay)
        try container.encode(maximumAttempts, forKey: .maximumAttempts)
    }
}

/// Coded as an object with the names of the properties; durations are numbers of seconds. Missing keys have the
/// defaults; unknown keys are an error.
extension RetryPolicy.Backoff: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case first, factor, maximum, jitter }

    /// Decodes delays.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        first = try container.seconds(.first) ?? first
        factor = try container.decodeIfPresent(Double.self, forKey: .factor) ?? factor
        maximum = try container.seconds(.maximum) ?? maximum
        jitter = try container.decodeIfPresent(Double.self, forKey: .jitter) ?? jitter
    }

    /// Encodes the delays.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seconds: first, forKey: .first)
        try container.encode(factor, forKey: .factor)
        try container.encode(seconds: maximum, forKey: .maximum)
        try container.encode(jitter, forKey: .jitter)
    }
}

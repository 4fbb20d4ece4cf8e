/// Which requests ask the server for its consent before their body is sent, with `Expect: 100-continue` (RFC 9110, section
/// 10.1.1).
///
/// A server that refuses such a request by its head alone, with 401 or 413 for example, answers before the body has cost
/// anything. Asking costs a round trip. A request with an Expect field of its own asks whatever the policy is.
public struct ContinuePolicy: Sendable, Hashable {
    /// The length from which bodies are announced; nil for none.
    private let minimumLength: Int64?

    /// No request asks.
    public static let never = ContinuePolicy(minimumLength: nil)
    /// Every request with a body asks.
    public static let always = bodies(ofAtLeast: 0)

    /// Requests with a body of at least this many bytes ask, and those with a body of unknown length.
    public static func bodies(ofAtLeast length: Int64) -> ContinuePolicy {
        ContinuePolicy(minimumLength: max(0, length))
    }

    /// Whether a request with a body of this length asks; nil is an unknown length.
    package func applies(toLength length: Int64?) -> Bool {
        guard let minimumLength else { return false }
        guard let length else { return true }
        return length > 0 && length >= minimumLength
    }
}

/// Coded as the minimum length, or as false for `never`.
extension ContinuePolicy: Codable {
    /// Decodes a policy. A negative length is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if (try? container.decode(Bool.self)) == false {
            self = .never
            return
        }
        let length = try container.decode(Int64.self)
        guard length >= 0 else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The length \(length) is negative.")
        }
        self = .bodies(ofAtLeast: length)
    }

    /// Encodes the policy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let minimumLength {
            try container.encode(minimumLength)
        } else {
            try container.encode(false)
        }
    }
}

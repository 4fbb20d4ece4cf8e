/// Decides which requests ask the server for its consent before sending the body, with `Expect: 100-continue` (RFC
/// 9110, section 10.1.1).
///
/// A server that refuses such a request by its head alone, with 401 or 413 for example, answers before the body has
/// cost anything. Asking costs a round trip. A request with its own Expect field asks under any policy.
public struct ContinuePolicy: Sendable, Hashable {
    /// The minimum length of announced bodies; nil to announce none.
    private let minimumLength: Int64?

    /// No request asks.
    public static let never = ContinuePolicy(minimumLength: nil)
    /// Every request with a body asks.
    public static let always = bodies(ofAtLeast: 0)

    /// Requests ask if their body has at least this many bytes, or an unknown length.
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

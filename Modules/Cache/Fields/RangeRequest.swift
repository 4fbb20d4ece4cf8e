internal import HTTPTypes
internal import LinnetMessages

/// The Range field of a GET request (RFC 9110, sections 14.1.2 and 14.2).
enum RangeRequest: Equatable {
    /// No range: the whole representation is requested.
    case none
    /// One range of bytes; without an end, all bytes from its start.
    case bytes(from: Int64, through: Int64?)
    /// The last bytes of the representation.
    case suffix(Int64)
    /// Several ranges, another unit, or an invalid range: only the server can answer.
    case unsupported

    init(_ request: HTTPRequest) {
        // The field is defined for GET only (section 14.2).
        guard request.method == .get, let value = request.headerFields[.range] else {
            self = .none
            return
        }
        self = Self.parse(value) ?? .unsupported
    }

    private static func parse(_ value: String) -> RangeRequest? {
        let parts = value.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, String(Substring(parts[0])).lowercased() == "bytes" else { return nil }
        let set = Array(parts[1])[...].trimmed
        let ends = set.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty { return Digits.parse(ends[1]).map { .suffix($0) } }
        guard let first = Digits.parse(ends[0]) else { return nil }
        if ends[1].isEmpty { return .bytes(from: first, through: nil) }
        guard let last = Digits.parse(ends[1]), last >= first else { return nil }
        return .bytes(from: first, through: last)
    }

    /// The requested bytes of a representation with this length; nil if the range is unsatisfiable or not supported.
    func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .none: 0..<length
        case .bytes(let first, let last):
            first < length ? first..<min(last.map { $0 + 1 } ?? length, length) : nil
        case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
        case .unsupported: nil
        }
    }
}

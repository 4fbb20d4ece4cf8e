/// A JSON number. Integers of any size are exact, and other numbers keep their digits.
public struct JSONNumber: Sendable {
    enum Storage: Sendable {
        case integer(Int64)
        /// Any other number, in JSON's grammar.
        case text(String)
    }

    let storage: Storage

    init(storage: Storage) { self.storage = storage }

    /// Creates an integer.
    public init(_ value: some FixedWidthInteger) {
        storage = Int64(exactly: value).map(Storage.integer) ?? .text(String(value))
    }

    /// Creates a floating-point number; nil if it is not finite, which JSON cannot represent.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        storage = .text(value.description)
    }

    /// The number as JSON text, with all its digits.
    public var text: String {
        switch storage {
        case .integer(let value): String(value)
        case .text(let text): text
        }
    }

    /// Whether it is written without a fraction and an exponent.
    public var isInteger: Bool {
        switch storage {
        case .integer: true
        case .text(let text): text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 >= 0x30 && $0 <= 0x39) }
        }
    }

    /// The value as an integer type; nil if it has a nonzero fraction or does not fit.
    public func value<Integer: FixedWidthInteger>(as type: Integer.Type = Integer.self) -> Integer? {
        switch storage {
        case .integer(let value): return Integer(exactly: value)
        case .text(let text):
            if let value = Integer(text) { return value }
            return Double(text).flatMap { abs($0) < 0x1p53 ? Integer(exactly: $0) : nil }
        }
    }

    /// The nearest `Double`; infinity if the number is out of range.
    public var doubleValue: Double {
        switch storage {
        case .integer(let value): Double(value)
        case .text(let text): Double(text) ?? .nan
        }
    }
}

extension JSONNumber: Hashable {
    /// Integers are equal if their digits are, other numbers if their `Double` values are; `1` is not equal to `1.0`.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        switch (left.storage, right.storage) {
        case (.integer(let left), .integer(let right)): return left == right
        case (.text(let leftText), .text(let rightText)):
            if leftText == rightText { return true }
            guard !left.isInteger, !right.isInteger else { return false }
            return left.doubleValue.isFinite && left.doubleValue == right.doubleValue
        default: return false
        }
    }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch storage {
        case .integer(let value): hasher.combine(value)
        case .text(let text):
            if isInteger { hasher.combine(text) } else { hasher.combine(doubleValue) }
        }
    }
}

extension JSONNumber: CustomStringConvertible {
    /// The number as JSON text.
    public var description: String { text }
}

public import FoundationEssentials

/// One value of a request's parameters.
///
/// Literals make them: `["name": "Ada", "tags": ["a", "b"], "active": true, "manager": nil]`.
public enum ParameterValue: Sendable, Hashable {
    /// No value: a bare key in a query, `null` in JSON.
    case null
    /// A truth value: `1` or `0` in a query.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number.
    case double(Double)
    /// A decimal number, written with all its digits: a number in JSON, its text in a property list.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// Bytes: Base64 in queries and JSON, as they are in a multipart form.
    case data(Data)
    /// A moment: ISO 8601 in UTC unless the serializer is told otherwise.
    case date(Date)
    /// Values in order.
    case array([ParameterValue])
    /// Values without order: a query repeats the plain key. JSON has no sets and refuses them.
    case set([ParameterValue])
    /// Named values in order. If a name occurs twice, a query has both and JSON the last.
    case dictionary([Entry])

    /// A name and its value.
    public struct Entry: Sendable, Hashable {
        /// The name.
        public var key: String
        /// The value.
        public var value: ParameterValue

        /// Creates an entry.
        public init(_ key: String, _ value: ParameterValue) {
            self.key = key
            self.value = value
        }
    }

    /// A whole number; one that is wider than 64 bits becomes its decimal text.
    public init(_ value: some FixedWidthInteger) {
        if let integer = Int64(exactly: value) {
            self = .integer(integer)
        } else if let unsigned = UInt64(exactly: value) {
            self = .unsigned(unsigned)
        } else {
            self = .string(String(value))
        }
    }

    /// A floating-point number.
    public init(_ value: Double) { self = .double(value) }

    /// A decimal number.
    public init(_ value: Decimal) { self = .decimal(value) }

    /// A text.
    public init(_ value: some StringProtocol) { self = .string(String(value)) }

    /// A truth value.
    public init(_ value: Bool) { self = .bool(value) }
}

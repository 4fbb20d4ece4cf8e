public import FoundationEssentials

/// A type whose values can be request parameters.
///
/// Numbers, texts, truth values, dates, data, URLs, UUIDs, optionals, and arrays, sets and dictionaries of them are. An
/// enumeration with a raw value only has to declare the conformance:
///
/// ```swift
/// enum Order: String, ParameterConvertible { case newest, oldest }
/// let parameters: RequestParameters = ["page": page, "order": Order.newest, "tags": tags]
/// ```
public protocol ParameterConvertible: Sendable {
    /// The value as a parameter.
    var parameterValue: ParameterValue { get }
}

extension ParameterConvertible where Self: RawRepresentable, RawValue: ParameterConvertible {
    /// The raw value as a parameter.
    public var parameterValue: ParameterValue { rawValue.parameterValue }
}

extension ParameterConvertible where Self: FixedWidthInteger {
    /// The number; a number wider than 64 bits becomes its decimal text.
    public var parameterValue: ParameterValue { ParameterValue(self) }
}

extension ParameterConvertible where Self: StringProtocol {
    /// The text.
    public var parameterValue: ParameterValue { ParameterValue(self) }
}

extension Int: ParameterConvertible {}
extension Int8: ParameterConvertible {}
extension Int16: ParameterConvertible {}
extension Int32: ParameterConvertible {}
extension Int64: ParameterConvertible {}
extension UInt: ParameterConvertible {}
extension UInt8: ParameterConvertible {}
extension UInt16: ParameterConvertible {}
extension UInt32: ParameterConvertible {}
extension UInt64: ParameterConvertible {}
extension String: ParameterConvertible {}
extension Substring: ParameterConvertible {}

extension ParameterValue: ParameterConvertible {
    /// The value itself.
    public var parameterValue: ParameterValue { self }
}

extension RequestParameters: ParameterConvertible {
    /// The value at the top.
    public var parameterValue: ParameterValue { root }
}

extension Bool: ParameterConvertible {
    /// The truth value.
    public var parameterValue: ParameterValue { .bool(self) }
}

extension Double: ParameterConvertible {
    /// The number.
    public var parameterValue: ParameterValue { .double(self) }
}

extension Float: ParameterConvertible {
    /// The number, with the shortest text that reads back as the same `Float`.
    public var parameterValue: ParameterValue { .double(Double(description) ?? Double(self)) }
}

extension Decimal: ParameterConvertible {
    /// The number with all its digits.
    public var parameterValue: ParameterValue { .decimal(self) }
}

extension Date: ParameterConvertible {
    /// The date, which each serializer writes in its own way.
    public var parameterValue: ParameterValue { .date(self) }
}

extension Data: ParameterConvertible {
    /// The bytes, which each serializer writes in its own way.
    public var parameterValue: ParameterValue { .data(self) }
}

extension URL: ParameterConvertible {
    /// The URL's text.
    public var parameterValue: ParameterValue { .string(absoluteString) }
}

extension UUID: ParameterConvertible {
    /// The UUID's text.
    public var parameterValue: ParameterValue { .string(uuidString) }
}

/// A value that may be absent.
private protocol OptionalParameter {
    var isAbsent: Bool { get }
}

extension Optional: OptionalParameter {
    fileprivate var isAbsent: Bool { if case .none = self { true } else { false } }
}

extension ParameterConvertible {
    /// The value of a named parameter; nil if this is nil, for which the name is left out.
    var presentValue: ParameterValue? {
        if let value = self as? any OptionalParameter, value.isAbsent { return nil }
        return parameterValue
    }
}

extension Optional: ParameterConvertible where Wrapped: ParameterConvertible {
    /// The value, or ``ParameterValue/null``.
    public var parameterValue: ParameterValue { self?.parameterValue ?? .null }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    /// The elements in order.
    public var parameterValue: ParameterValue { .array(map(\.parameterValue)) }
}

extension Set: ParameterConvertible where Element: ParameterConvertible {
    /// The elements, without order.
    public var parameterValue: ParameterValue { .set(map(\.parameterValue)) }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// The named values, ordered by the bytes of their names. Names with a nil value are omitted.
    public var parameterValue: ParameterValue { RequestParameters(compactMapValues(\.presentValue)).root }
}

// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

internal import Foundation  // NSNumber, NSNull, NSString
internal import LinnetSerialization

extension ParameterValue {
    /// A value that a serializer of AFNetworking was given: a dictionary, an array, a set or a plain value of Swift or
    /// Foundation.
    ///
    /// Keys that are not strings become their descriptions.
    ///
    /// - Throws: ``Foreign`` for a value of another type, where `isLenient` is false. Otherwise such a value becomes
    ///   its description.
    init(foundation value: Any, isLenient: Bool) throws(Foreign) {
        switch value {
        case is NSNull:
            self = .null
        case let values as [String: Any]:
            self = try .dictionary(values.map(isLenient))
        case let values as [AnyHashable: Any] where isLenient:
            self = try .dictionary(values.map(isLenient))
        case let values as Set<AnyHashable> where isLenient:
            self = try .set(values.map(\.base).map(isLenient))
        case let values as [Any]:
            self = try .array(values.map(isLenient))
        case let number as NSNumber where type(of: value) is NSNumber.Type:
            self.init(number)
        case let value as any ParameterConvertible:
            let converted = value.parameterValue
            guard isLenient || !converted.isBeyondJSON else { throw Foreign(type: "\(type(of: value))") }
            self = converted
        case let value as NSString:
            self = .string(value.description)
        case _ where isLenient:
            self = .string("\(value)")
        default:
            throw Foreign(type: "\(type(of: value))")
        }
    }

    /// A value that the format cannot have.
    struct Foreign: Error {
        let type: String
    }

    private init(_ number: NSNumber) {
        let double = number.doubleValue
        if String(cString: number.objCType) == "c" || String(cString: number.objCType) == "B" {
            self = .bool(number.boolValue)
        } else if double == double.rounded(), let integer = Int64(exactly: number.int64Value), Double(integer) == double
        {
            self = .integer(integer)
        } else {
            self = .double(double)
        }
    }

    private var isBeyondJSON: Bool {
        switch self {
        case .data, .date, .set: true
        default: false
        }
    }
}

extension Dictionary where Value == Any {
    fileprivate func map(_ isLenient: Bool) throws(ParameterValue.Foreign) -> [ParameterValue.Entry] {
        var entries: [ParameterValue.Entry] = []
        for (key, value) in self {
            let name = "\(AnyHashable(key).base)"
            entries.append(ParameterValue.Entry(name, try ParameterValue(foundation: value, isLenient: isLenient)))
        }
        return entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

extension Array where Element == Any {
    fileprivate func map(_ isLenient: Bool) throws(ParameterValue.Foreign) -> [ParameterValue] {
        var values: [ParameterValue] = []
        for value in self { values.append(try ParameterValue(foundation: value, isLenient: isLenient)) }
        return values
    }
}

/// Escapes a text for a query: all but letters, digits and `-._~/?` (RFC 3986, section 3.4).
public func AFPercentEscapedStringFromString(_ string: String) -> String {
    let text = try? QueryEncoder().encode(RequestParameters([ParameterValue.Entry(string, .null)]))
    return text ?? ""
}

/// Writes a query: sorted names, `a[b]` for a name in a dictionary, `a[]` for an element of an array. Empty if it
/// cannot be written.
public func AFQueryStringFromParameters(_ parameters: [String: Any]) -> String {
    guard let root = try? ParameterValue(foundation: parameters, isLenient: true) else { return "" }
    return (try? QueryEncoder().encode(RequestParameters(root))) ?? ""
}

// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

public import Foundation  // JSONSerialization, PropertyListSerialization
internal import LinnetSerialization
internal import Synchronization

/// Reads JSON as `[String: Any]` and `[Any]`, whose numbers and truth values are `NSNumber`, and whose null is
/// `NSNull`.
open class AFJSONResponseSerializer: AFHTTPResponseSerializer, @unchecked Sendable {
    /// Creates a serializer.
    public convenience init(readingOptions: JSONSerialization.ReadingOptions) {
        self.init()
        self.readingOptions = readingOptions
    }

    override class var usualContentTypes: Set<String>? { ["application/json", "text/json", "text/javascript"] }

    /// How JSON is read: `.fragmentsAllowed` accepts a text or a number alone. Collections of Swift are always mutable.
    open var readingOptions: JSONSerialization.ReadingOptions {
        get { state.withLock { $0.readingOptions } }
        set { state.withLock { $0.readingOptions = newValue } }
    }

    /// Whether names and elements that are null are removed, at any depth.
    open var removesKeysWithNullValues: Bool {
        get { state.withLock { $0.removesKeysWithNullValues } }
        set { state.withLock { $0.removesKeysWithNullValues = newValue } }
    }

    /// Returns the value; nil without an error for a body that is empty, or one space.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        let settings = state.withLock { $0 }
        return read(response, data, error: error) { data in
            guard !data.isEmpty, data != Data(" ".utf8) else { return nil }
            let options = JSONValue.ParsingOptions(allowsFragments: settings.readingOptions.contains(.fragmentsAllowed))
            let value = try JSONValue(parsing: data, options: options)
            return (settings.removesKeysWithNullValues ? value.removingNullValues() : value).foundation
        }
    }
}

/// Returns a value of JSON without names and elements that are null, at any depth; a null at the top stays.
public func AFJSONObjectByRemovingKeysWithNullValues(
    _ JSONObject: Any, _ readingOptions: JSONSerialization.ReadingOptions
) -> Any {
    switch JSONObject {
    case let values as [String: Any]:
        values.filter { !($0.value is NSNull) }.mapValues {
            AFJSONObjectByRemovingKeysWithNullValues($0, readingOptions)
        }
    case let values as [Any]:
        values.filter { !($0 is NSNull) }.map { AFJSONObjectByRemovingKeysWithNullValues($0, readingOptions) }
    default: JSONObject
    }
}

extension JSONValue {
    /// The value as `JSONSerialization` returns it.
    fileprivate var foundation: Any {
        switch self {
        case .null: return NSNull()
        case .bool(let value): return NSNumber(value: value)
        case .number(let number):
            if number.isInteger, let value: Int64 = number.value() { return NSNumber(value: value) }
            if number.isInteger, let value: UInt64 = number.value() { return NSNumber(value: value) }
            return NSNumber(value: number.doubleValue)
        case .string(let value): return value
        case .array(let values): return values.map(\.foundation)
        case .object(let object):
            return Dictionary(object.map { ($0.key, $0.value.foundation) }, uniquingKeysWith: { $1 })
        }
    }
}

/// Reads a property list, in XML or binary.
open class AFPropertyListResponseSerializer: AFHTTPResponseSerializer, @unchecked Sendable {
    /// Creates a serializer. The bytes tell the format, and the options have no effect.
    public convenience init(
        format: PropertyListSerialization.PropertyListFormat, readOptions: PropertyListSerialization.ReadOptions
    ) {
        self.init()
        self.format = format
        self.readOptions = readOptions
    }

    override class var usualContentTypes: Set<String>? { ["application/x-plist"] }

    /// Without effect, as in AFNetworking: the bytes tell the format.
    open var format: PropertyListSerialization.PropertyListFormat {
        get { state.withLock { $0.format } }
        set { state.withLock { $0.format = newValue } }
    }

    /// Without effect: collections of Swift are always mutable.
    open var readOptions: PropertyListSerialization.ReadOptions {
        get { state.withLock { $0.readOptions } }
        set { state.withLock { $0.readOptions = newValue } }
    }

    /// Returns the value; nil without an error for an empty body, as of a 204.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        read(response, data, error: error) { data in
            data.isEmpty ? nil : try PropertyListValue(parsing: data).foundation
        }
    }
}

extension PropertyListValue {
    fileprivate var foundation: Any {
        switch self {
        case .bool(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .real(let value): NSNumber(value: value)
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .array(let values): values.map(\.foundation)
        case .dictionary(let values): values.mapValues(\.foundation)
        }
    }
}

/// Reads a response by the first of several serializers that returns something; otherwise as
/// ``AFHTTPResponseSerializer`` does.
open class AFCompoundResponseSerializer: AFHTTPResponseSerializer, @unchecked Sendable {
    /// Returns a serializer that tries others in order. Only subclasses of ``AFHTTPResponseSerializer`` are tried.
    open class func compoundSerializer(
        withResponseSerializers responseSerializers: [any AFURLResponseSerialization]
    ) -> AFCompoundResponseSerializer {
        let serializer = AFCompoundResponseSerializer()
        serializer.state.withLock { $0.members = responseSerializers }
        return serializer
    }

    /// The serializers, in order.
    open var responseSerializers: [any AFURLResponseSerialization] { state.withLock { $0.members } }

    /// Returns what the first serializer that can read the body returns, with its error.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        for serializer in responseSerializers where serializer is AFHTTPResponseSerializer {
            var failure: NSError?
            if let object = serializer.responseObject(for: response, data: data, error: &failure) {
                error?.pointee = failure
                return object
            }
        }
        return super.responseObject(for: response, data: data, error: error)
    }
}

import FoundationEssentials

/// Writes parameters as `application/x-www-form-urlencoded`, for a query or a body.
///
/// The defaults are AFNetworking's rules: names sorted, `a[b]` for a name in a dictionary, `a[]` for an element of an
/// array, the plain name for each member of a set, a bare name for null, `1` and `0`, and percent-encoding of all but
/// RFC 3986's unreserved characters, `/` and `?`. Empty arrays and dictionaries disappear.
///
/// ```swift
/// try QueryEncoder().encode(["tags": ["a", "b"], "q": "x y"])  // q=x%20y&tags%5B%5D=a&tags%5B%5D=b
/// ```
/// ``QueryParser`` reads it back. Two encoders are equal if their styles are, and their closures are the same one. An
/// encoder with a closure cannot be encoded with `Codable`.
public struct QueryEncoder: Sendable, Hashable {
    /// How an array's elements are named; the default is ``ArrayStyle/brackets``.
    public var arrayStyle = ArrayStyle.brackets
    /// How a name within a dictionary is joined to the dictionary's; the default is ``NestingStyle/brackets``.
    public var nestingStyle = NestingStyle.brackets
    /// Whether names are written in the order of their UTF-8 bytes, at each level; otherwise in their own. The default
    /// is true.
    public var sortsKeys = true
    /// How truth values are written; the default is ``BoolStyle/digits``.
    public var boolStyle = BoolStyle.digits
    /// How null is written; the default is ``NullStyle/bareKey``.
    public var nullStyle = NullStyle.bareKey
    /// How what has nothing in it is written; the default is ``EmptyCollectionStyle/dropped``.
    public var emptyCollectionStyle = EmptyCollectionStyle.dropped
    /// How a space is written; the default is ``SpaceStyle/percentEncoded``.
    public var spaceStyle = SpaceStyle.percentEncoded

    let closure: QueryEncodingClosure?

    /// Creates an encoder with AFNetworking's rules.
    public init() { closure = nil }

    /// Creates an encoder that asks a closure for the whole text, as `setQueryStringSerializationWithBlock:` did.
    ///
    /// - Parameter encode: Gets the parameters, and the request that they are for if there is one. What it returns goes
    ///   into the query or the body as it is. What it throws underlies an error with
    ///   ``SerializationError/Code/encodingFailed``.
    public init(custom encode: @escaping @Sendable (Parameters, Request?) throws -> String) {
        closure = QueryEncodingClosure(encode)
    }

    /// Returns the encoded text, which is ASCII; empty if there is nothing to encode.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` when the value at the top
    ///   has no names, a list in ``ArrayStyle/commaSeparated`` holds more than plain values, or the elements of an array
    ///   run into each other in ``ArrayStyle/brackets``; with
    ///   ``SerializationError/Code/nestedTooDeep`` beyond 512 levels; with ``SerializationError/Code/encodingFailed``
    ///   when the closure throws.
    public func encode(_ parameters: Parameters, for request: Request? = nil) throws(SerializationError) -> String {
        if let closure { return try closure.encode(parameters, for: request) }
        var walker = ParameterWalker(encoder: self, sink: QueryTextSink(encoder: self))
        try walker.walk(parameters)
        return String(decoding: walker.sink.bytes, as: UTF8.self)
    }

    /// Returns the names and values that ``encode(_:for:)`` would write, in its order and not percent-encoded.
    ///
    /// Multipart forms take their parts from here. A closure is not asked.
    public func flatten(_ parameters: Parameters) throws(SerializationError) -> [ParameterValue.Entry] {
        var walker = ParameterWalker(encoder: self, sink: EntrySink(encoder: self))
        try walker.walk(parameters)
        return walker.sink.entries
    }

    /// The text of a plain value, not percent-encoded; empty for null and for collections.
    public func text(of value: ParameterValue) -> String {
        switch value {
        case .null, .array, .set, .dictionary: ""
        case .bool(let value): boolStyle == .digits ? (value ? "1" : "0") : (value ? "true" : "false")
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value): value.parameterText
        case .decimal(let value): value.description
        case .string(let value): value
        case .data(let value): value.base64EncodedString()
        case .date(let value): value.parameterText
        }
    }
}

/// A closure with an identity, so that what holds it can be compared.
final class QueryEncodingClosure: Sendable, Hashable {
    private let closure: @Sendable (Parameters, Request?) throws -> String

    init(_ closure: @escaping @Sendable (Parameters, Request?) throws -> String) { self.closure = closure }

    func encode(_ parameters: Parameters, for request: Request?) throws(SerializationError) -> String {
        do {
            return try closure(parameters, request)
        } catch {
            throw SerializationError(
                code: .encodingFailed,
                message: "The closure that writes the query failed: \(reason(of: error)).",
                underlying: error
            )
        }
    }

    static func == (left: QueryEncodingClosure, right: QueryEncodingClosure) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

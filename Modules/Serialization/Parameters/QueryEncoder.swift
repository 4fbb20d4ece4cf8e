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
    /// How a space is written; the default is ``SpaceStyle/percentEncoded``.
    public var spaceStyle = SpaceStyle.percentEncoded

    /// Creates an encoder with AFNetworking's rules.
    public init() {}

    /// Returns the encoded text, which is ASCII; empty if there is nothing to encode.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` when the value at the top has
    ///   no names, or a list in ``ArrayStyle/commaSeparated`` holds more than plain values; with
    ///   ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    public func encode(_ parameters: Parameters) throws(SerializationError) -> String {
        var walker = ParameterWalker(encoder: self, sink: QueryTextSink(encoder: self))
        try walker.walk(parameters)
        return String(decoding: walker.sink.bytes, as: UTF8.self)
    }

    /// Returns the names and values that ``encode(_:)`` would write, in its order and not percent-encoded.
    ///
    /// Multipart forms take their parts from here.
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
        case .string(let value): value
        case .data(let value): value.base64EncodedString()
        case .date(let value): value.parameterText
        }
    }
}

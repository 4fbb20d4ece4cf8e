import FoundationEssentials
internal import LinnetJSON

/// Writes parameters as `application/x-www-form-urlencoded`, for a query or a body.
///
/// The defaults follow AFNetworking: sorted names, `a[b]` for a name in a dictionary, `a[]` for an array's element,
/// the plain name for each member of a set, a name without `=` for null, `1` and `0`, and percent-encoding except for
/// the unreserved characters of RFC 3986, `/` and `?`. Empty arrays and dictionaries are omitted.
///
/// ```swift
/// let query = try QueryEncoder().encode(["tags": ["a", "b"], "q": "x y"])  // q=x%20y&tags%5B%5D=a&tags%5B%5D=b
/// ```
/// ``QueryParser`` parses the result. Two encoders are equal if their styles are equal and their closures identical.
/// An encoder with a closure is not `Codable`.
public struct QueryEncoder: Sendable, Hashable {
    /// How the elements of arrays are named; the default is ``ArrayStyle/brackets``.
    public var arrayStyle = ArrayStyle.brackets
    /// How a name is joined to the dictionary's name; the default is ``NestingStyle/brackets``.
    public var nestingStyle = NestingStyle.brackets
    /// Whether names are sorted by their UTF-8 bytes at each level; the default is true. If false, they keep their
    /// order.
    public var sortsKeys = true
    /// How Booleans are written; the default is ``BoolStyle/digits``.
    public var boolStyle = BoolStyle.digits
    /// How null is written; the default is ``NullStyle/bareKey``. A nil property is null only with
    /// ``ParameterEncoder/encodesNilAsNull``.
    public var nullStyle = NullStyle.bareKey
    /// How empty collections are written; the default is ``EmptyCollectionStyle/dropped``.
    public var emptyCollectionStyle = EmptyCollectionStyle.dropped
    /// How spaces are written; the default is ``SpaceStyle/percentEncoded``.
    public var spaceStyle = SpaceStyle.percentEncoded

    let closure: QueryEncodingClosure?

    /// Creates an encoder with AFNetworking's rules.
    public init() { closure = nil }

    /// Creates an encoder with a closure that writes the whole text, as with `setQueryStringSerializationWithBlock:`.
    ///
    /// - Parameter encode: Receives the parameters, and the request if there is one. Its result becomes the query or
    ///   the body unchanged. Its error becomes the underlying error of a ``SerializationError/Code/encodingFailed``.
    public init(custom encode: @escaping @Sendable (RequestParameters, SessionRequest?) throws -> String) {
        closure = QueryEncodingClosure(encode)
    }

    /// Returns the encoded text in ASCII; empty if there is nothing to encode.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` if the top-level value has
    ///   no names, a list in ``ArrayStyle/commaSeparated`` contains collections, or the elements of an array cannot
    ///   be separated in ``ArrayStyle/brackets``; with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels;
    ///   with ``SerializationError/Code/encodingFailed`` if the closure throws.
    public func encode(_ parameters: RequestParameters, for request: SessionRequest? = nil) throws(SerializationError)
        -> String
    {
        if let closure { return try closure.encode(parameters, for: request) }
        var walker = ParameterWalker(encoder: self, sink: QueryTextSink(encoder: self))
        try walker.walk(parameters)
        return String(decoding: walker.sink.bytes, as: UTF8.self)
    }

    /// Returns the names and values of ``encode(_:for:)``, in order and without percent-encoding, for example for a
    /// multipart form. The closure is not used.
    package func flatten(_ parameters: RequestParameters) throws(SerializationError) -> [ParameterValue.Entry] {
        var walker = ParameterWalker(encoder: self, sink: EntrySink(encoder: self))
        try walker.walk(parameters)
        return walker.sink.entries
    }

    /// The text of a plain value, without percent-encoding; empty for null and collections.
    package func text(of value: ParameterValue) -> String {
        switch value {
        case .null, .array, .set, .dictionary: ""
        case .bool(let value): boolStyle == .digits ? (value ? "1" : "0") : (value ? "true" : "false")
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value): value.parameterText
        case .decimal(let value): value.description
        case .string(let value): value
        case .data(let value): value.base64EncodedString()
        case .date(let value): value.iso8601Text
        }
    }
}

/// A closure with an identity, which makes its owner `Hashable`.
final class QueryEncodingClosure: Sendable, Hashable {
    private let closure: @Sendable (RequestParameters, SessionRequest?) throws -> String

    init(_ closure: @escaping @Sendable (RequestParameters, SessionRequest?) throws -> String) {
        self.closure = closure
    }

    func encode(_ parameters: RequestParameters, for request: SessionRequest?) throws(SerializationError) -> String {
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

extension QueryEncoder {
    /// How the elements of arrays are named.
    public struct ArrayStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case brackets, indices, repeated, commaSeparated }
        let kind: Kind

        /// `a[]=1&a[]=2`
        ///
        /// In an array of dictionaries, `a[][b]=1&a[][c]=2`, a parser such as Rack's begins a new element at a repeated
        /// name. Elements that it would not separate, as in `[{"b": 1}, {"c": 2}]`, are an error with
        /// ``SerializationError/Code/invalidParameters``; use ``indices`` for them. Nested arrays are written like
        /// AFNetworking's, without a mark between them.
        public static let brackets = ArrayStyle(kind: .brackets)
        /// `a[0]=1&a[1]=2`
        public static let indices = ArrayStyle(kind: .indices)
        /// `a=1&a=2`
        public static let repeated = ArrayStyle(kind: .repeated)
        /// `a=1,2`; a comma within an element is percent-encoded, and elements must be plain values.
        public static let commaSeparated = ArrayStyle(kind: .commaSeparated)
    }

    /// How a name is joined to the dictionary's name.
    public struct NestingStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case brackets, dots }
        let kind: Kind

        /// `a[b]=1`
        public static let brackets = NestingStyle(kind: .brackets)
        /// `a.b=1`
        public static let dots = NestingStyle(kind: .dots)
    }

    /// How Booleans are written.
    public struct BoolStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case digits, words }
        let kind: Kind

        /// `1` and `0`
        public static let digits = BoolStyle(kind: .digits)
        /// `true` and `false`
        public static let words = BoolStyle(kind: .words)
    }

    /// How null is written.
    public struct NullStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case bareKey, emptyValue, dropped }
        let kind: Kind

        /// `a`
        public static let bareKey = NullStyle(kind: .bareKey)
        /// `a=`
        public static let emptyValue = NullStyle(kind: .emptyValue)
        /// Omitted.
        public static let dropped = NullStyle(kind: .dropped)
    }

    /// How empty arrays, sets and dictionaries are written.
    public struct EmptyCollectionStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case dropped, bareKey, emptyValue }
        let kind: Kind

        /// Omitted.
        public static let dropped = EmptyCollectionStyle(kind: .dropped)
        /// `a[]` for an array in ``ArrayStyle/brackets`` or ``ArrayStyle/indices``, otherwise `a`.
        public static let bareKey = EmptyCollectionStyle(kind: .bareKey)
        /// `a[]=` for an array in ``ArrayStyle/brackets`` or ``ArrayStyle/indices``, otherwise `a=`.
        public static let emptyValue = EmptyCollectionStyle(kind: .emptyValue)
    }

    /// How spaces are written.
    public struct SpaceStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case percentEncoded, plus }
        let kind: Kind

        /// `%20`
        public static let percentEncoded = SpaceStyle(kind: .percentEncoded)
        /// `+`, as in HTML forms
        public static let plus = SpaceStyle(kind: .plus)
    }
}

extension QueryEncoder: Codable {
    private enum CodingKeys: String, CodingKey {
        case arrayStyle, nestingStyle, sortsKeys, boolStyle, nullStyle, emptyCollectionStyle, spaceStyle
    }

    /// Decodes an encoder; missing styles have their defaults.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func read<T: Decodable>(_ key: CodingKeys, _ present: T) throws -> T {
            try container.decodeIfPresent(T.self, forKey: key) ?? present
        }
        arrayStyle = try read(.arrayStyle, arrayStyle)
        nestingStyle = try read(.nestingStyle, nestingStyle)
        sortsKeys = try read(.sortsKeys, sortsKeys)
        boolStyle = try read(.boolStyle, boolStyle)
        nullStyle = try read(.nullStyle, nullStyle)
        emptyCollectionStyle = try read(.emptyCollectionStyle, emptyCollectionStyle)
        spaceStyle = try read(.spaceStyle, spaceStyle)
    }

    /// Encodes the styles; throws `EncodingError` if the encoder has a closure.
    public func encode(to encoder: any Encoder) throws {
        if closure != nil {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "A query encoder with a closure cannot be encoded."
            )
            throw EncodingError.invalidValue(self, context)
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(arrayStyle, forKey: .arrayStyle)
        try container.encode(nestingStyle, forKey: .nestingStyle)
        try container.encode(sortsKeys, forKey: .sortsKeys)
        try container.encode(boolStyle, forKey: .boolStyle)
        try container.encode(nullStyle, forKey: .nullStyle)
        try container.encode(emptyCollectionStyle, forKey: .emptyCollectionStyle)
        try container.encode(spaceStyle, forKey: .spaceStyle)
    }
}

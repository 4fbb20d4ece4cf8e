public import FoundationEssentials
internal import LinnetJSON

/// Encodes any `Encodable` value as parameters.
///
/// ```swift
/// var encoder = ParameterEncoder()
/// encoder.dateEncodingStrategy = .secondsSince1970
/// encoder.keyEncodingStrategy = .convertToSnakeCase
/// let parameters = try encoder.encode(search)
/// ```
/// Names keep the order in which the value encodes them. A `Dictionary` has no order, so its names are sorted by their
/// bytes, and equal values give equal parameters. A `URL` becomes its text.
public struct ParameterEncoder: Sendable {
    /// How dates are encoded; the default is ``DateEncodingStrategy/deferred``.
    public var dateEncodingStrategy = DateEncodingStrategy.deferred
    /// How data is encoded; the default is ``DataEncodingStrategy/deferred``.
    public var dataEncodingStrategy = DataEncodingStrategy.deferred
    /// How the names of properties are encoded; the default is ``KeyEncodingStrategy/useDefaultKeys``.
    public var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys
    /// Whether nil properties become null, which JSON and ``QueryEncoder/nullStyle`` write. The default is false,
    /// which omits them, as `JSONEncoder` does.
    public var encodesNilAsNull = false
    /// Passed to the value's `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder.
    public init() {}

    /// Returns the parameters.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/encodingFailed``, whose underlying error comes
    ///   from the value or a strategy's closure; with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    public func encode(_ value: some Encodable) throws(SerializationError) -> RequestParameters {
        do {
            let encoder = TreeEncoder(settings: self)
            try encoder.encode(value)
            return RequestParameters(try encoder.node.value(depth: 0))
        } catch let error as SerializationError {
            throw error
        } catch {
            throw SerializationError(
                code: .encodingFailed,
                message: "\(type(of: value)) could not be encoded: \(reason(of: error)).",
                underlying: error
            )
        }
    }
}

extension RequestParameters {
    /// Creates parameters from any `Encodable` value; see ``ParameterEncoder``.
    public init(
        encoding value: some Encodable,
        encoder: ParameterEncoder = ParameterEncoder()
    ) throws(SerializationError) {
        self = try encoder.encode(value)
    }
}

extension ParameterEncoder {
    /// How dates are encoded.
    public struct DateEncodingStrategy: Sendable {
        enum Kind: Sendable {
            case deferred, iso8601, seconds, milliseconds
            case formatted(@Sendable (Date) throws -> String)
        }
        let kind: Kind

        /// Dates stay dates, which each serializer writes in its own form: ISO 8601 in queries, forms and JSON, a
        /// date in a property list.
        public static let deferred = DateEncodingStrategy(kind: .deferred)
        /// ISO 8601 in UTC, with milliseconds unless they are zero: `2030-01-02T03:04:05Z`.
        public static let iso8601 = DateEncodingStrategy(kind: .iso8601)
        /// Seconds since 1970, with a fraction unless it is zero.
        public static let secondsSince1970 = DateEncodingStrategy(kind: .seconds)
        /// Milliseconds since 1970, rounded to an integer.
        public static let millisecondsSince1970 = DateEncodingStrategy(kind: .milliseconds)
        /// The text that a closure returns. Its error underlies the encoder's error.
        public static func formatted(_ format: @escaping @Sendable (Date) throws -> String) -> DateEncodingStrategy {
            DateEncodingStrategy(kind: .formatted(format))
        }

        func value(of date: Date) throws -> ParameterValue {
            switch kind {
            case .deferred: .date(date)
            case .iso8601: .string(date.iso8601Text)
            case .seconds: ParameterValue(number: date.timeIntervalSince1970)
            case .milliseconds: ParameterValue(number: (date.timeIntervalSince1970 * 1000).rounded())
            case .formatted(let format): .string(try format(date))
            }
        }
    }

    /// How data is encoded.
    public struct DataEncodingStrategy: Sendable {
        enum Kind: Sendable {
            case deferred, base64
            case formatted(@Sendable (Data) throws -> String)
        }
        let kind: Kind

        /// Data stays data, which each serializer writes in its own form: Base64 in queries, forms and JSON, bytes in
        /// a multipart form and in a property list.
        public static let deferred = DataEncodingStrategy(kind: .deferred)
        /// Base64 (RFC 4648, section 4).
        public static let base64 = DataEncodingStrategy(kind: .base64)
        /// The text that a closure returns. Its error underlies the encoder's error.
        public static func formatted(_ format: @escaping @Sendable (Data) throws -> String) -> DataEncodingStrategy {
            DataEncodingStrategy(kind: .formatted(format))
        }

        func value(of data: Data) throws -> ParameterValue {
            switch kind {
            case .deferred: .data(data)
            case .base64: .string(data.base64EncodedString())
            case .formatted(let format): .string(try format(data))
            }
        }
    }

    /// How the names of properties are encoded. The keys of a dictionary are values, and are not changed.
    public struct KeyEncodingStrategy: Sendable {
        enum Kind: Sendable {
            case useDefaultKeys, convertToSnakeCase
            case formatted(@Sendable (String) -> String)
        }
        let kind: Kind

        /// The names of the coding keys.
        public static let useDefaultKeys = KeyEncodingStrategy(kind: .useDefaultKeys)
        /// `createdAt` becomes `created_at`, and `baseURLString` becomes `base_url_string`: the names that
        /// `JSONEncoder` writes with its strategy of the same name.
        public static let convertToSnakeCase = KeyEncodingStrategy(kind: .convertToSnakeCase)
        /// The name that a closure returns.
        public static func formatted(_ format: @escaping @Sendable (String) -> String) -> KeyEncodingStrategy {
            KeyEncodingStrategy(kind: .formatted(format))
        }

        func name(_ key: String) -> String {
            switch kind {
            case .useDefaultKeys: key
            case .convertToSnakeCase: snakeCased(key)
            case .formatted(let format): format(key)
            }
        }

        /// Words begin at the first of several capitals, and at the last character before the lowercase letter after
        /// them.
        private func snakeCased(_ key: String) -> String {
            let characters = Array(key)
            var starts: Set<Int> = []
            var place = 1
            while place < characters.count, let capital = characters[place...].firstIndex(where: \.isUppercase) {
                starts.insert(capital)
                guard let small = characters[capital...].firstIndex(where: \.isLowercase) else { break }
                starts.insert(small - 1)
                place = small + 1
            }
            return characters.enumerated().map { (starts.contains($0) ? "_" : "") + $1.lowercased() }.joined()
        }
    }
}

extension ParameterValue {
    /// Integral numbers become integers, which are written without an exponent.
    init(number: Double) {
        self = Int64(exactly: number).map(ParameterValue.integer) ?? .double(number)
    }
}

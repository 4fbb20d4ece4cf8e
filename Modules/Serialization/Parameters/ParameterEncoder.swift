public import FoundationEssentials

/// Makes parameters from any `Encodable` value.
///
/// ```swift
/// var encoder = ParameterEncoder()
/// encoder.dateEncodingStrategy = .secondsSince1970
/// encoder.keyEncodingStrategy = .convertToSnakeCase
/// let parameters = try encoder.encode(search)
/// ```
/// Names come in the order in which the value encodes them; those of a `Dictionary`, which has no order, are sorted by
/// their bytes, so that the same value always gives the same parameters. A `URL` becomes its text.
public struct ParameterEncoder: Sendable {
    /// What dates become; the default is ``DateEncodingStrategy/deferred``.
    public var dateEncodingStrategy = DateEncodingStrategy.deferred
    /// What data becomes; the default is ``DataEncodingStrategy/deferred``.
    public var dataEncodingStrategy = DataEncodingStrategy.deferred
    /// What the names of properties become; the default is ``KeyEncodingStrategy/useDefaultKeys``.
    public var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys
    /// Whether a property that is nil becomes null, which ``QueryEncoder/nullStyle`` and JSON write; the default is false,
    /// which leaves it out, as `JSONEncoder` does.
    public var encodesNilAsNull = false
    /// Passed to the value's `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder.
    public init() {}

    /// Returns the parameters.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/encodingFailed``, where what the value or a
    ///   strategy's closure threw underlies it; with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    public func encode(_ value: some Encodable) throws(SerializationError) -> Parameters {
        do {
            let encoder = TreeEncoder(settings: self)
            try encoder.encode(value)
            return Parameters(try encoder.node.value(depth: 0))
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

extension Parameters {
    /// Creates parameters from any `Encodable` value; see ``ParameterEncoder``.
    public init(
        encoding value: some Encodable,
        encoder: ParameterEncoder = ParameterEncoder()
    ) throws(SerializationError) {
        self = try encoder.encode(value)
    }
}

extension ParameterEncoder {
    /// What dates become.
    public struct DateEncodingStrategy: Sendable {
        enum Kind: Sendable {
            case deferred, iso8601, seconds, milliseconds
            case formatted(@Sendable (Date) throws -> String)
        }
        let kind: Kind

        /// They stay dates, which each serializer writes in its own way: ISO 8601 in queries, forms and JSON, a date in
        /// a property list.
        public static let deferred = DateEncodingStrategy(kind: .deferred)
        /// A text in ISO 8601 in UTC, with milliseconds if there are any: `2030-01-02T03:04:05Z`.
        public static let iso8601 = DateEncodingStrategy(kind: .iso8601)
        /// Seconds since 1970, with a fraction if there is one.
        public static let secondsSince1970 = DateEncodingStrategy(kind: .seconds)
        /// Milliseconds since 1970, rounded to whole ones.
        public static let millisecondsSince1970 = DateEncodingStrategy(kind: .milliseconds)
        /// The text that a closure gives; what it throws underlies the encoder's error.
        public static func formatted(_ format: @escaping @Sendable (Date) throws -> String) -> DateEncodingStrategy {
            DateEncodingStrategy(kind: .formatted(format))
        }

        func value(of date: Date) throws -> ParameterValue {
            switch kind {
            case .deferred: .date(date)
            case .iso8601: .string(date.parameterText)
            case .seconds: ParameterValue(number: date.timeIntervalSince1970)
            case .milliseconds: ParameterValue(number: (date.timeIntervalSince1970 * 1000).rounded())
            case .formatted(let format): .string(try format(date))
            }
        }
    }

    /// What data becomes.
    public struct DataEncodingStrategy: Sendable {
        enum Kind: Sendable {
            case deferred, base64
            case formatted(@Sendable (Data) throws -> String)
        }
        let kind: Kind

        /// It stays data, which each serializer writes in its own way: Base64 in queries, forms and JSON, bytes in a
        /// multipart form and in a property list.
        public static let deferred = DataEncodingStrategy(kind: .deferred)
        /// A text in Base64 (RFC 4648, section 4).
        public static let base64 = DataEncodingStrategy(kind: .base64)
        /// The text that a closure gives; what it throws underlies the encoder's error.
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

    /// What the names of properties become. The names in a dictionary are values, and stay as they are.
    public struct KeyEncodingStrategy: Sendable {
        enum Kind: Sendable {
            case useDefaultKeys, convertToSnakeCase
            case formatted(@Sendable (String) -> String)
        }
        let kind: Kind

        /// They stay as the coding keys have them.
        public static let useDefaultKeys = KeyEncodingStrategy(kind: .useDefaultKeys)
        /// `createdAt` becomes `created_at`, and `baseURLString` becomes `base_url_string`: the names that `JSONEncoder`
        /// writes with the strategy of this name.
        public static let convertToSnakeCase = KeyEncodingStrategy(kind: .convertToSnakeCase)
        /// What a closure makes of them.
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

        /// A word begins at the first of several capitals, and at the last character before the small letter after them.
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
    /// A whole number as an integer, so that it is written without an exponent.
    init(number: Double) {
        self = Int64(exactly: number).map(ParameterValue.integer) ?? .double(number)
    }
}

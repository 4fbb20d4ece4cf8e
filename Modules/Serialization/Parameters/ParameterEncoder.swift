import FoundationEssentials

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

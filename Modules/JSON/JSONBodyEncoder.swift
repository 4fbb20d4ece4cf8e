public import FoundationEssentials

/// Foundation's `JSONEncoder` as a value: changing a copy does not change the original.
///
/// The defaults write what ``JSONBodyDecoder`` reads by default, in the format of `JSONRequestSerializer` of
/// LinnetSerialization.
public struct JSONBodyEncoder: Sendable {
    private static let standard: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.iso8601Text)
        }
        return encoder
    }()

    // Copied before a change unless this value alone refers to it.
    private var encoder = standard

    /// Creates an encoder with the defaults.
    public init() {}

    /// Creates an encoder with the settings that a `JSONEncoder` has now.
    public init(_ original: JSONEncoder) { encoder = Self.copy(of: original) }

    /// The layout of the text; the default is one line without escaped slashes.
    public var outputFormatting: JSONEncoder.OutputFormatting {
        get { encoder.outputFormatting }
        set { change { $0.outputFormatting = newValue } }
    }
    /// How dates are written; the default is ISO 8601 in UTC, with milliseconds unless they are zero.
    public var dateEncodingStrategy: JSONEncoder.DateEncodingStrategy {
        get { encoder.dateEncodingStrategy }
        set { change { $0.dateEncodingStrategy = newValue } }
    }
    /// How `Data` is written; the default is Base64.
    public var dataEncodingStrategy: JSONEncoder.DataEncodingStrategy {
        get { encoder.dataEncodingStrategy }
        set { change { $0.dataEncodingStrategy = newValue } }
    }
    /// The conversion of the type's keys into the text's keys; the default is `.useDefaultKeys`.
    public var keyEncodingStrategy: JSONEncoder.KeyEncodingStrategy {
        get { encoder.keyEncodingStrategy }
        set { change { $0.keyEncodingStrategy = newValue } }
    }
    /// How NaN and the infinities are written; the default is an error.
    public var nonConformingFloatEncodingStrategy: JSONEncoder.NonConformingFloatEncodingStrategy {
        get { encoder.nonConformingFloatEncodingStrategy }
        set { change { $0.nonConformingFloatEncodingStrategy = newValue } }
    }
    /// Passed to the value's `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { encoder.userInfo }
        set { change { $0.userInfo = newValue } }
    }

    /// Writes a value as a JSON text.
    ///
    /// - Throws: Foundation's `EncodingError`, or an error of the value's `encode(to:)`.
    public func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

    private mutating func change(_ change: (JSONEncoder) -> Void) {
        if !isKnownUniquelyReferenced(&encoder) { encoder = Self.copy(of: encoder) }
        change(encoder)
    }

    private static func copy(of original: JSONEncoder) -> JSONEncoder {
        let copy = JSONEncoder()
        copy.outputFormatting = original.outputFormatting
        copy.dateEncodingStrategy = original.dateEncodingStrategy
        copy.dataEncodingStrategy = original.dataEncodingStrategy
        copy.keyEncodingStrategy = original.keyEncodingStrategy
        copy.nonConformingFloatEncodingStrategy = original.nonConformingFloatEncodingStrategy
        copy.userInfo = original.userInfo
        return copy
    }
}

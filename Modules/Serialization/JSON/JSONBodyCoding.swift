public import FoundationEssentials

/// Foundation's `JSONDecoder` as a value: a change of a copy leaves the original as it is.
///
/// The defaults read what ``JSONBodyEncoder`` writes by default.
public struct JSONBodyDecoder: Sendable {
    private static let standard: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = Date(parameterText: text) { return date }
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(String(text.prefix(60)).debugDescription) is not a date in ISO 8601.")
        }
        return decoder
    }()

    // Copied before a change unless this value alone refers to it.
    private var decoder = standard

    /// Creates a decoder with the defaults.
    public init() {}

    /// Creates a decoder with the settings that a `JSONDecoder` has now.
    public init(_ original: JSONDecoder) { decoder = Self.copy(of: original) }

    /// How dates are read; the default is ISO 8601 with or without a fraction of a second.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy {
        get { decoder.dateDecodingStrategy }
        set { change { $0.dateDecodingStrategy = newValue } }
    }
    /// How `Data` is read; the default is Base64.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy {
        get { decoder.dataDecodingStrategy }
        set { change { $0.dataDecodingStrategy = newValue } }
    }
    /// How the keys of the text become those of the type; the default is `.useDefaultKeys`.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy {
        get { decoder.keyDecodingStrategy }
        set { change { $0.keyDecodingStrategy = newValue } }
    }
    /// How NaN and the infinities are read; the default is an error.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy {
        get { decoder.nonConformingFloatDecodingStrategy }
        set { change { $0.nonConformingFloatDecodingStrategy = newValue } }
    }
    /// Passed to the type's `init(from:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { decoder.userInfo }
        set { change { $0.userInfo = newValue } }
    }

    /// Reads a value from a JSON text.
    ///
    /// - Throws: Foundation's `DecodingError`, or what the type's `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decoder.decode(type, from: data)
    }

    private mutating func change(_ change: (JSONDecoder) -> Void) {
        if !isKnownUniquelyReferenced(&decoder) { decoder = Self.copy(of: decoder) }
        change(decoder)
    }

    private static func copy(of original: JSONDecoder) -> JSONDecoder {
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = original.dateDecodingStrategy
        copy.dataDecodingStrategy = original.dataDecodingStrategy
        copy.keyDecodingStrategy = original.keyDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = original.nonConformingFloatDecodingStrategy
        copy.allowsJSON5 = original.allowsJSON5
        copy.assumesTopLevelDictionary = original.assumesTopLevelDictionary
        copy.userInfo = original.userInfo
        return copy
    }
}

/// Foundation's `JSONEncoder` as a value: a change of a copy leaves the original as it is.
///
/// The defaults write what ``JSONBodyDecoder`` reads by default, and what ``JSONRequestSerializer`` writes for parameters.
public struct JSONBodyEncoder: Sendable {
    private static let standard: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.parameterText)
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
    /// How the keys of the type become those of the text; the default is `.useDefaultKeys`.
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
    /// - Throws: Foundation's `EncodingError`, or what the value's `encode(to:)` throws.
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

public import FoundationEssentials

/// Decodes types from JSON, straight from the bytes of a text, with the settings of Foundation's `JSONDecoder`.
///
/// It gives the values that `JSONDecoder` gives, and throws its errors, at the same coding paths. It is about three
/// times as fast. It differs where `JSONDecoder` is lenient or its errors have no path:
///
/// - The whole text must be JSON (RFC 8259) and valid UTF-8, even in parts that are not decoded. `JSONDecoder` accepts
///   commas before closing brackets, and does not check the numbers and strings that it does not decode.
/// - A number that does not fit in its type, and a date in another format, are reported at their coding path, and
///   integers with an exponent or a fraction of zeros are exact.
/// - Names are compared by their bytes (RFC 8259, section 8.3): not equal in another Unicode normalization form. The
///   first of repeated names counts, as in `JSONDecoder`.
/// - The values of a dictionary are decoded in the order of the text, so that the first of several errors is thrown.
///   `decodeIfPresent` at the end of an array does not change `currentIndex`. UTF-32, little endian, with a byte order
///   mark is not taken for UTF-16.
///
/// Arrays and objects are nested at most 512 levels deep. Texts in UTF-16 and UTF-32 are read with or without a byte
/// order mark. The defaults read the default output of ``JSONBodyEncoder``. Changing a copy does not change the
/// original.
public struct JSONBodyDecoder: Sendable {
    private var settings = JSONDecodingSettings()
    private var allowsJSON5 = false
    private var assumesTopLevelDictionary = false

    /// Whether Foundation's `JSONDecoder` decodes, with these settings; the default is false.
    ///
    /// It is true for a decoder with the settings of a `JSONDecoder` that has `allowsJSON5` or
    /// `assumesTopLevelDictionary`, which only Foundation's supports, and which do not count when this is false.
    public var usesFoundation = false

    /// The maximum number of bytes of memory that the ``JSONValue``s of one text may take.
    package var maximumTreeMemory: Int {
        get { settings.treeMemory }
        set { settings.treeMemory = newValue }
    }

    /// Creates a decoder with the defaults.
    public init() {}

    /// Creates a decoder with the settings that a `JSONDecoder` has now.
    public init(_ original: JSONDecoder) {
        settings.dates = .strategy(original.dateDecodingStrategy)
        settings.data = original.dataDecodingStrategy
        settings.keys = original.keyDecodingStrategy
        settings.floats = original.nonConformingFloatDecodingStrategy
        settings.userInfo = original.userInfo
        allowsJSON5 = original.allowsJSON5
        assumesTopLevelDictionary = original.assumesTopLevelDictionary
        usesFoundation = allowsJSON5 || assumesTopLevelDictionary
    }

    /// How dates are read; the default is ISO 8601 with or without a fraction of a second.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy {
        get {
            switch settings.dates {
            case .standard: .custom { try JSONDecodingSettings.standardDate(from: $0) }
            case .strategy(let strategy): strategy
            }
        }
        set { settings.dates = .strategy(newValue) }
    }
    /// How `Data` is read; the default is Base64.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy {
        get { settings.data }
        set { settings.data = newValue }
    }
    /// The conversion of the text's keys into the type's keys; the default is `.useDefaultKeys`.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy {
        get { settings.keys }
        set { settings.keys = newValue }
    }
    /// How NaN and the infinities are read; the default is an error.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy {
        get { settings.floats }
        set { settings.floats = newValue }
    }
    /// Passed to the type's `init(from:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { settings.userInfo }
        set { settings.userInfo = newValue }
    }

    /// Reads a value from a JSON text.
    ///
    /// - Throws: Foundation's `DecodingError`, or an error of the type's `init(from:)`. The underlying error for a text
    ///   that is not JSON is a ``JSONSyntaxError``.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        if usesFoundation { return try foundationDecoder.decode(type, from: data) }
        return try data.withUnsafeBytes { bytes in
            guard let encoding = JSONTextEncoding(bytes) else {
                return try JSONTapeDecoder.decode(type, from: bytes, settings: settings)
            }
            let text = Array(try encoding.text(bytes).utf8)
            return try text.withUnsafeBytes { try JSONTapeDecoder.decode(type, from: $0, settings: settings) }
        }
    }

    private var foundationDecoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dateDecodingStrategy
        decoder.dataDecodingStrategy = settings.data
        decoder.keyDecodingStrategy = settings.keys
        decoder.nonConformingFloatDecodingStrategy = settings.floats
        decoder.userInfo = settings.userInfo
        decoder.allowsJSON5 = allowsJSON5
        decoder.assumesTopLevelDictionary = assumesTopLevelDictionary
        return decoder
    }
}

import FoundationEssentials
internal import LinnetMessages

/// Parses a query or a form, `application/x-www-form-urlencoded`: the inverse of ``QueryEncoder``.
///
/// ```swift
/// let parameters = try QueryParser().parse("tags%5B%5D=a&tags%5B%5D=b&q=x%20y")
/// let tag = parameters["tags"]?[1]  // "b"
/// ```
/// Values are text, or null for a name without `=`. With the encoder's styles, `parse(encode(x))` is `x` as far as
/// the text preserves it: ``QueryEncoder/ArrayStyle/brackets`` loses the bounds of nested arrays, a list with one
/// element is a plain value in ``QueryEncoder/ArrayStyle/repeated`` and ``QueryEncoder/ArrayStyle/commaSeparated``,
/// and names with brackets (or dots) are parsed as nested. Parsing takes linear time.
public struct QueryParser: Sendable, Hashable, Codable {
    /// How the elements of arrays are named; the default is ``QueryEncoder/ArrayStyle/brackets``.
    ///
    /// With ``QueryEncoder/ArrayStyle/brackets``, `a[][b]=1` begins a new element if the last one has that name, as
    /// in Rack. With ``QueryEncoder/ArrayStyle/indices``, the names 0, 1, 2 and so on make an array.
    public var arrayStyle = QueryEncoder.ArrayStyle.brackets
    /// How a name is joined to the dictionary's name; the default is ``QueryEncoder/NestingStyle/brackets``.
    public var nestingStyle = QueryEncoder.NestingStyle.brackets
    /// The meaning of repeated names such as `a=1&a=2`, and whether `a=1&a[]=2` is accepted; the default is
    /// ``RepetitionStyle/collected``.
    public var repetitionStyle = RepetitionStyle.collected
    /// Whether `+` is a space, as in HTML forms; the default is true. ``QueryEncoder`` escapes a literal plus sign.
    public var readsPlusAsSpace = true
    /// Whether an invalid `%` is kept and invalid UTF-8 replaced by U+FFFD, as in the WHATWG URL standard. The
    /// default is false, which makes them an error.
    public var isLenient = false
    /// The maximum number of pairs; the default is a million. Exceeding it is
    /// ``SerializationError/Code/decodingFailed``.
    public var maximumPairs = 1_000_000

    /// Creates a parser for the defaults of ``QueryEncoder``.
    public init() {}

    /// Returns the decoded names and values in order. Empty pairs are skipped.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed``.
    public func pairs(in text: String) throws(SerializationError) -> [ParameterValue.Entry] {
        var pairs: [ParameterValue.Entry] = []
        try forEachPair(in: text) { name, value throws(SerializationError) in
            pairs.append(ParameterValue.Entry(name, try plainValue(value)))
        }
        return pairs
    }

    /// Returns the parameters.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed``, including for a name that is
    ///   used both for a value and for a collection (but see ``RepetitionStyle/combined``); with
    ///   ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    public func parse(_ text: String) throws(SerializationError) -> RequestParameters {
        let tree = QueryTree(parser: self)
        try forEachPair(in: text) { name, value throws(SerializationError) in
            try tree.insert(try self.value(value), at: name)
        }
        return RequestParameters(try tree.value())
    }

    private func plainValue(_ bytes: ArraySlice<UInt8>?) throws(SerializationError) -> ParameterValue {
        guard let bytes else { return .null }
        return .string(try decode(bytes))
    }

    private func value(_ bytes: ArraySlice<UInt8>?) throws(SerializationError) -> ParameterValue {
        guard let bytes, arrayStyle == .commaSeparated, bytes.contains(UInt8(ascii: ",")) else {
            return try plainValue(bytes)
        }
        var values: [ParameterValue] = []
        // A comma within an element is percent-encoded, so that the list is split before decoding.
        for part in bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            values.append(.string(try decode(part)))
        }
        return .array(values)
    }

    private func forEachPair(
        in text: String,
        _ body: (String, ArraySlice<UInt8>?) throws(SerializationError) -> Void
    ) throws(SerializationError) {
        let bytes = Array(text.utf8)
        var start = 0
        var count = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
            if end > start {
                count += 1
                guard count <= maximumPairs else { throw failure("it has more than \(maximumPairs) pairs") }
                let pair = bytes[start..<end]
                if let mark = pair.firstIndex(of: UInt8(ascii: "=")) {
                    try body(try decode(pair[..<mark]), pair[(mark + 1)...])
                } else {
                    try body(try decode(pair), nil)
                }
            }
            start = end + 1
        }
    }

    private func failure(_ reason: String) -> SerializationError {
        SerializationError(code: .decodingFailed, message: "The text is not a form: \(reason).")
    }
}

extension QueryParser {
    /// Decodes percent-encoding (RFC 3986, section 2.1).
    private func decode(_ bytes: ArraySlice<UInt8>) throws(SerializationError) -> String {
        let isPlain = !bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        return try text(isPlain ? bytes : decodedBytes(bytes)[...], at: bytes.startIndex)
    }

    private func text(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SerializationError) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        guard isLenient else { throw failure("what begins at byte \(offset) is not UTF-8") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func decodedBytes(_ bytes: ArraySlice<UInt8>) throws(SerializationError) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var place = bytes.startIndex
        while place < bytes.endIndex {
            let byte = bytes[place]
            if byte == UInt8(ascii: "+"), readsPlusAsSpace {
                decoded.append(UInt8(ascii: " "))
            } else if byte != UInt8(ascii: "%") {
                decoded.append(byte)
            } else if place + 2 < bytes.endIndex, let high = ASCII.hexadecimalValue(bytes[place + 1]),
                let low = ASCII.hexadecimalValue(bytes[place + 2])
            {
                decoded.append(high << 4 | low)
                place += 2
            } else if isLenient {
                decoded.append(byte)
            } else {
                throw failure("a percent sign at byte \(place) has no two digits")
            }
            place += 1
        }
        return decoded
    }
}

extension QueryParser {
    /// The meaning of several plain values for one name.
    public struct RepetitionStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case collected, combined, first, last }
        let kind: Kind

        /// All values: `a=1&a=2` is a set, as ``QueryEncoder`` writes sets, or an array with
        /// ``QueryEncoder/ArrayStyle/repeated``. `a=1&a[]=2` is an error, as in Rack.
        public static let collected = RepetitionStyle(kind: .collected)
        /// All values as an array, as in qs (Node.js): `a=1&a=2` and `a=1&a[]=2` are both `["1", "2"]`.
        public static let combined = RepetitionStyle(kind: .combined)
        /// The first value. `a=1&a[]=2` is an error.
        public static let first = RepetitionStyle(kind: .first)
        /// The last value, as in Rack and PHP. `a=1&a[]=2` is an error, as in Rack.
        public static let last = RepetitionStyle(kind: .last)
    }
}

extension QueryParser {
    enum CodingKeys: String, CodingKey {
        case arrayStyle, nestingStyle, repetitionStyle, readsPlusAsSpace, isLenient, maximumPairs
    }

    /// Decodes a parser; missing settings have their defaults.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func read<T: Decodable>(_ key: CodingKeys, _ present: T) throws -> T {
            try container.decodeIfPresent(T.self, forKey: key) ?? present
        }
        arrayStyle = try read(.arrayStyle, arrayStyle)
        nestingStyle = try read(.nestingStyle, nestingStyle)
        repetitionStyle = try read(.repetitionStyle, repetitionStyle)
        readsPlusAsSpace = try read(.readsPlusAsSpace, readsPlusAsSpace)
        isLenient = try read(.isLenient, isLenient)
        maximumPairs = try read(.maximumPairs, maximumPairs)
    }
}

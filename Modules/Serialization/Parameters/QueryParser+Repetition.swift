extension QueryParser {
    /// What several plain values of one name are.
    public struct RepetitionStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case collected, combined, first, last }
        let kind: Kind

        /// All of them: `a=1&a=2` is a set, as ``QueryEncoder`` writes one, and an array with
        /// ``QueryEncoder/ArrayStyle/repeated``. `a=1&a[]=2` is an error, as in Rack.
        public static let collected = RepetitionStyle(kind: .collected)
        /// All of them, in an array, as qs (Node.js) reads them: `a=1&a=2` and `a=1&a[]=2` are both `["1", "2"]`.
        public static let combined = RepetitionStyle(kind: .combined)
        /// The first. `a=1&a[]=2` is an error.
        public static let first = RepetitionStyle(kind: .first)
        /// The last, as in Rack and PHP. `a=1&a[]=2` is an error, as in Rack.
        public static let last = RepetitionStyle(kind: .last)
    }
}

extension QueryParser {
    enum CodingKeys: String, CodingKey {
        case arrayStyle, nestingStyle, repetitionStyle, readsPlusAsSpace, isLenient, maximumPairs
    }

    /// Reads a parser; what is missing has its default.
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

extension QueryEncoder: Codable {
    private enum CodingKeys: String, CodingKey {
        case arrayStyle, nestingStyle, sortsKeys, boolStyle, nullStyle, emptyCollectionStyle, spaceStyle
    }

    /// Reads an encoder; what is missing has its default.
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

    /// Writes the styles; throws `EncodingError` if the encoder asks a closure, which cannot be written.
    public func encode(to encoder: any Encoder) throws {
        if closure != nil {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "A query encoder that asks a closure cannot be encoded."
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

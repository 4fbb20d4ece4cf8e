extension Decoder {
    /// Returns the container of a configuration object. Unknown keys are an error, because a misspelled key would leave
    /// a setting at its default.
    package func strictContainer<Key: CodingKey & CaseIterable>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try refuseKeys(except: type.allCases.map(\.stringValue))
        return try container(keyedBy: type)
    }

    /// Throws for the alphabetically first key that is not among the known ones.
    package func refuseKeys(except known: [String]) throws {
        let keys = try container(keyedBy: TextKey.self).allKeys.map(\.stringValue)
        guard let unknown = Set(keys).subtracting(known).min() else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "The key \"\(unknown.oneLine)\" is unknown."))
    }
}

/// Any text as a key.
package struct TextKey: CodingKey {
    /// The text.
    package let stringValue: String
    /// Always nil.
    package var intValue: Int? { nil }

    /// Makes a key.
    package init(stringValue: String) { self.stringValue = stringValue }
    /// Always nil.
    package init?(intValue: Int) { nil }
}

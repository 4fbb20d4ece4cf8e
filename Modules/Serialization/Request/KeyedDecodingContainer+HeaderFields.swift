package import HTTPTypes

extension KeyedDecodingContainer {
    /// The header fields of a file with settings, at most 1,000; nil if they are absent or null. `HTTPFields` itself
    /// terminates the process at 65,535.
    package func headerFields(_ key: Key) throws -> HTTPFields? {
        guard let fields = try decodeIfPresent([HTTPField].self, forKey: key) else { return nil }
        guard fields.count <= 1000 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "There are more than 1,000 header fields.")
        }
        if let field = fields.first(where: { $0.name.rawName.hasPrefix(":") }) {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "\(field.name.rawName) is not the name of a header field.")
        }
        return HTTPFields(fields)
    }
}

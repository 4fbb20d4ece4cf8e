public import HTTPTypes
internal import LinnetMessages

extension StoredResponse {
    /// The header fields of a request that a response depends on, with normalized values (RFC 9111, section 4.1).
    ///
    /// Values are compared without surrounding blanks, and a repeated field is compared as one list. The comparison of
    /// content codings, charsets and languages also ignores case, and blanks between elements. The order of elements
    /// counts.
    public struct Variant: Hashable, Sendable, Codable {
        struct Field: Hashable, Codable {
            /// The name in lower case.
            let name: String
            /// The normalized value; nil if the request does not have the field.
            let value: String?
        }

        /// The fields, in order of their names.
        let fields: [Field]

        /// The largest number of field names in Vary; a response with more is not stored.
        static let limit = 64

        /// The variant of a response to a request; nil if Vary is `*`, malformed, or names more than 64 fields.
        public init?(of response: HTTPResponse, to request: HTTPRequest) {
            guard let names = Self.names(response.headerFields) else { return nil }
            fields = names.map { Field(name: $0, value: Self.value($0, in: request.headerFields)) }
        }

        /// Whether a request has the same values of these fields.
        public func matches(_ request: HTTPRequest) -> Bool {
            fields.allSatisfy { Self.value($0.name, in: request.headerFields) == $0.value }
        }

        /// Whether the response depends on any field.
        package var isEmpty: Bool { fields.isEmpty }

        /// The names, in lower case, of the fields that are present in the request.
        package var presentNames: [String] { fields.compactMap { $0.value == nil ? nil : $0.name } }

        /// Whether the variant has the same names as a response's Vary.
        func hasNames(of response: HTTPResponse) -> Bool {
            Self.names(response.headerFields) == fields.map(\.name)
        }

        var size: Int { fields.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) + 64 } }

        /// The sorted names in Vary; nil if the response matches no other request.
        private static func names(_ fields: HTTPFields) -> [String]? {
            guard fields.contains(.vary) else { return [] }
            var names: Set<String> = []
            for value in fields[values: .vary] {
                guard let list = TokenList.names(value), !list.contains("*") else { return nil }
                names.formUnion(list)
                guard names.count <= limit else { return nil }
            }
            return names.sorted()
        }

        private static func value(_ name: String, in fields: HTTPFields) -> String? {
            guard let name = HTTPField.Name(name) else { return nil }
            let values = fields.isoLatin1Values(of: name)
            guard !values.isEmpty else { return nil }
            let isList = normalizedLists.contains(name.canonicalName)
            return values.flatMap {
                isList ? elements($0) : [String(decoding: Array($0.utf8)[...].trimmed, as: UTF8.self)]
            }
            .joined(separator: ", ")
        }

        /// The fields whose lists of tokens are compared case-insensitively (RFC 9110, sections 12.5.2 to 12.5.4).
        private static let normalizedLists: Set<String> = ["accept-charset", "accept-encoding", "accept-language"]

        /// The elements in lower case, without blanks.
        private static func elements(_ list: String) -> [String] {
            Array(list.utf8).split(separator: UInt8(ascii: ",")).compactMap { element in
                let bytes = element.filter { !ASCII.isBlank($0) }.map(ASCII.lowercase)
                return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}

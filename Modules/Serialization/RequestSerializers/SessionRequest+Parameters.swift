import FoundationEssentials
import HTTPTypes

extension SessionRequest {
    mutating func appendQuery(_ parameters: RequestParameters?, encoder: QueryEncoder) throws(SerializationError) {
        guard let parameters else { return }
        let query = try encoder.encode(parameters, for: self)
        if encoder.closure != nil, !query.utf8.allSatisfy(Self.mayStandInQuery) {
            throw SerializationError(
                code: .encodingFailed,
                message: "The closure that writes the query returned a character that is not allowed in a query."
            )
        }
        url = try url.appending(encodedQuery: query)
    }

    /// A `#` would end the query, and the other characters would be changed on the way (RFC 3986, section 3.4).
    private static func mayStandInQuery(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"#\"<>\\^`{|}".utf8.contains(byte)
    }

    mutating func setBody(_ serialized: SerializedBody) throws(SerializationError) {
        guard body == nil else {
            throw SerializationError(
                code: .invalidParameters,
                message: "The request has a body, which the parameters would replace."
            )
        }
        body = serialized.content
        if let contentType = serialized.contentType, !headerFields.contains(.contentType) {
            headerFields[.contentType] = contentType
        }
    }
}

extension URL {
    /// Appends an encoded query to the URL's query, before the fragment.
    func appending(encodedQuery query: String) throws(SerializationError) -> URL {
        if query.isEmpty { return self }
        let text = absoluteString
        let end = text.firstIndex(of: "#") ?? text.endIndex
        let head = text[..<end]
        let separator: String
        if let mark = head.firstIndex(of: "?") {
            separator = head.index(after: mark) == head.endIndex || head.last == "&" ? "" : "&"
        } else {
            separator = "?"
        }
        guard let url = URL(string: head + separator + query + text[end...]) else {
            throw SerializationError(code: .invalidURL, message: "The URL \(text) cannot carry a query.")
        }
        return url
    }
}

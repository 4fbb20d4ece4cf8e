import FoundationEssentials

extension URL {
    /// The URL with an encoded query behind the one it has, and before its fragment.
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

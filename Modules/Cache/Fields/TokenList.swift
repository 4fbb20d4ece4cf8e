internal import LinnetMessages

/// A list of tokens, as in Vary and Connection (RFC 9110, section 5.6.1).
enum TokenList {
    /// The tokens in lower case, in order, without empty elements; nil if an element is not a token.
    static func names(_ list: String) -> [String]? {
        var names: [String] = []
        for element in Array(list.utf8).split(separator: UInt8(ascii: ",")) {
            let token = element.trimmed
            guard token.allSatisfy(ASCII.isToken) else { return nil }
            if !token.isEmpty { names.append(String(decoding: token.map(ASCII.lowercase), as: UTF8.self)) }
        }
        return names
    }
}

extension ArraySlice<UInt8> {
    var trimmed: ArraySlice<UInt8> { drop(while: ASCII.isBlank).trimmedAtEnd }

    var trimmedAtEnd: ArraySlice<UInt8> {
        var end = endIndex
        while end > startIndex, ASCII.isBlank(self[end - 1]) { end -= 1 }
        return self[startIndex..<end]
    }
}

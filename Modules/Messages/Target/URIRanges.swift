/// The places of the components of a URI reference in its bytes (RFC 3986, appendix B). Every URI is split here.
///
/// Any bytes have components: they are neither validated nor decoded.
package struct URIRanges: Equatable {
    package private(set) var scheme: Range<Int>?
    package private(set) var authority: Range<Int>?
    package private(set) var path: Range<Int>
    package private(set) var query: Range<Int>?
    package private(set) var fragment: Range<Int>?

    package init(_ bytes: UnsafeBufferPointer<UInt8>) {
        var start = 0
        let mark = bytes.end(from: 0) { $0 == .colon || $0.endsAuthority }
        if mark < bytes.count, bytes[mark] == .colon, bytes[..<mark].isScheme {
            scheme = 0..<mark
            start = mark + 1
        }
        if start + 1 < bytes.count, bytes[start] == .slash, bytes[start + 1] == .slash {
            let end = bytes.end(from: start + 2, where: \.endsAuthority)
            authority = start + 2..<end
            start = end
        }
        var end = bytes.end(from: start) { $0 == .questionMark || $0 == .hash }
        path = start..<end
        if end < bytes.count, bytes[end] == .questionMark {
            start = end + 1
            end = bytes.end(from: start) { $0 == .hash }
            query = start..<end
        }
        if end < bytes.count { fragment = end + 1..<bytes.count }
    }
}

/// The places of the components of an authority (RFC 3986, section 3.2): user information before the last `@`, host,
/// port.
package struct AuthorityRanges: Equatable {
    package private(set) var userInfo: Range<Int>?
    /// The host, without its brackets.
    package private(set) var host: Range<Int>
    /// Whether the host is in brackets, as only IPv6 addresses are.
    package private(set) var isBracketed = false
    /// The possibly empty text after the host's colon; nil without a colon.
    package private(set) var port: Range<Int>?

    /// - Parameters:
    ///   - bytes: The bytes of a URI.
    ///   - range: The place of its authority.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>) {
        var start = range.lowerBound
        if let at = bytes[range].lastIndex(of: .at) {
            userInfo = start..<at
            start = at + 1
        }
        var hostEnd = start
        if start < range.upperBound, bytes[start] == .openingBracket {
            let closing = bytes[start..<range.upperBound].firstIndex(of: .closingBracket)
            hostEnd = closing.map { $0 + 1 } ?? range.upperBound
            // Only a port may follow the bracket; otherwise there is no valid host.
            isBracketed = closing != nil && (hostEnd == range.upperBound || bytes[hostEnd] == .colon)
        } else {
            hostEnd = bytes[start..<range.upperBound].firstIndex(of: .colon) ?? range.upperBound
        }
        guard isBracketed || bytes[start..<hostEnd].first != .openingBracket else {
            host = start..<range.upperBound
            return
        }
        host = isBracketed ? start + 1..<hostEnd - 1 : start..<hostEnd
        if hostEnd < range.upperBound { port = hostEnd + 1..<range.upperBound }
    }
}

extension UInt8 {
    static let colon = UInt8(ascii: ":")
    static let slash = UInt8(ascii: "/")
    static let questionMark = UInt8(ascii: "?")
    static let hash = UInt8(ascii: "#")
    static let at = UInt8(ascii: "@")
    static let openingBracket = UInt8(ascii: "[")
    static let closingBracket = UInt8(ascii: "]")
}

extension UnsafeBufferPointer<UInt8> {
    /// The index of the first byte that ends a component; the end if there is none.
    fileprivate func end(from start: Int, where isEnd: (UInt8) -> Bool) -> Int {
        var index = start
        while index < count, !isEnd(self[index]) { index += 1 }
        return index
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// Whether the bytes are a scheme: a letter, then letters, digits, `+`, `-` and `.` (RFC 3986, section 3.1).
    fileprivate var isScheme: Bool {
        guard let first, ASCII.isAlphanumeric(first), !(0x30...0x39 ~= first) else { return false }
        return allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
    }
}

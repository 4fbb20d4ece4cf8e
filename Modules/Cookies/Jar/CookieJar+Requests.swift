package import FoundationEssentials
package import HTTPTypes
internal import LinnetMessages

extension CookieJar {
    /// Whether there are no cookies. Expired cookies count until they are removed.
    package var isEmpty: Bool { storage.isEmpty }

    /// Adds the cookies for a request to its header fields.
    ///
    /// The result has a single Cookie field (RFC 6265bis, section 5.8.1). The request's own cookies come first, and
    /// replace cookies of the jar with the same names.
    package func addCookies(to fields: inout HTTPFields, for url: URL, context: CookieContext = .sameSite) {
        let own = fields[fields: .cookie].map { $0.withUnsafeBytesOfValue { Array($0) } }.filter { !$0.isEmpty }
        let names = Set(own.flatMap { $0.split(separator: UInt8(ascii: ";")).map(Self.name) })
        let stored = cookies(for: url, context: context).filter { !names.contains($0.sentName.bytes) }
        // Without additions, a single field stays unchanged.
        guard !stored.isEmpty || own.count > 1 else { return }
        var string = Array(own.joined(separator: [UInt8(ascii: ";"), UInt8(ascii: " ")]))
        for cookie in stored {
            if !string.isEmpty { string += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
            cookie.append(to: &string)
        }
        fields[fields: .cookie] = [HTTPField(name: .cookie, lenientValue: string)]
    }

    /// The name of a cookie in a Cookie field; empty if it has none.
    private static func name(_ pair: ArraySlice<UInt8>) -> [UInt8] {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        return Array(pair[..<equals].drop(while: ASCII.isBlank))
    }
}

package import FoundationEssentials
package import HTTPTypes

extension CookieJar {
    /// Adds the cookies for a request to its header fields.
    ///
    /// There is one Cookie field afterwards (RFC 6265bis, section 5.8.1). Cookies that the request has itself come first, and
    /// those of the jar with the same names are left out.
    package func addCookies(to fields: inout HTTPFields, for url: URL, context: CookieContext = .sameSite) {
        let own = fields[values: .cookie].filter { !$0.isEmpty }
        guard !own.isEmpty else {
            if let field = cookieHeader(for: url, context: context) { fields[fields: .cookie] = [field] }
            return
        }
        var string = Array(own.joined(separator: "; ").utf8)
        let names = Set(own.flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }.map(Self.name))
        for cookie in cookies(for: url, context: context) where !names.contains(Array(cookie.name.utf8)) {
            string += [UInt8(ascii: ";"), UInt8(ascii: " ")]
            cookie.append(to: &string)
        }
        fields[fields: .cookie] = [HTTPField(name: .cookie, lenientValue: string)]
    }

    /// The name of a cookie in a Cookie field; empty if it has none.
    private static func name(_ pair: Substring.UTF8View.SubSequence) -> [UInt8] {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        return Array(pair[..<equals].drop(while: \.isCookieSpace))
    }
}

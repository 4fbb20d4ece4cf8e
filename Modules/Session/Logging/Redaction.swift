internal import FoundationEssentials
public import HTTPTypes

/// What of a request or a response is hidden from those who read logs and descriptions.
///
/// User information in URLs is always hidden, unless nothing is.
public struct Redaction: Sendable, Hashable {
    /// The header fields whose values are hidden.
    public var fieldNames: Set<HTTPField.Name>
    /// The names of parameters in a URL's query, or in its fragment, whose values are hidden, in lower case.
    public var queryNames: Set<String>
    private var hidesUserInfo = true

    /// Stands in the place of what is hidden.
    static let mark = "<redacted>"

    /// Makes a redaction.
    public init(fieldNames: Set<HTTPField.Name>, queryNames: Set<String>) {
        self.fieldNames = fieldNames
        self.queryNames = queryNames
    }

    /// Hides credentials and cookies, and the parameters of queries that are commonly secret. This is the default wherever
    /// something is described.
    public static let standard = Redaction(
        fieldNames: Set(
            [.authorization, .proxyAuthorization, .cookie, .setCookie, .authenticationInfo]
                + HTTPField.Name.tokenNames),
        queryNames: [
            "access_token", "api_key", "apikey", "auth", "client_secret", "code", "key", "password", "refresh_token",
            "secret", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
        ])

    /// Hides nothing. A description contains all secrets, and can be replayed by any reader.
    public static let insecureShowEverything: Redaction = {
        var redaction = Redaction(fieldNames: [], queryNames: [])
        redaction.hidesUserInfo = false
        return redaction
    }()

    var hidesNothing: Bool { fieldNames.isEmpty && queryNames.isEmpty && !hidesUserInfo }

    /// A field's value, or what stands in its place; of a field that is a URL, the URL without what is hidden.
    func value(of field: HTTPField) -> String {
        if fieldNames.contains(field.name) { return Self.mark }
        guard Self.urlFieldNames.contains(field.name), !hidesNothing else { return field.value }
        return URL(string: field.value).map(text) ?? Self.mark
    }

    private static let urlFieldNames: Set<HTTPField.Name> = [.location, .contentLocation, .referer]

    /// A URL's text without what is hidden. Parameters may stand in the fragment as well: there, RFC 6749 puts a token
    /// (section 4.2.2).
    func text(of url: URL) -> String {
        let text = (hidesUserInfo ? url.withoutUserInfo : url).absoluteString
        guard !queryNames.isEmpty, let start = text.utf8.firstIndex(where: Self.isMark) else { return text }
        var hidden = String(text[..<start])
        var rest = text[start...]
        while let mark = rest.popFirst() {
            let end = rest.utf8.firstIndex(where: Self.isMark) ?? rest.endIndex
            hidden += String(mark) + pair(rest[..<end])
            rest = rest[end...]
        }
        return hidden
    }

    private static func isMark(_ byte: UInt8) -> Bool { "?#&".utf8.contains(byte) }

    private func pair(_ pair: Substring) -> String {
        guard let equals = pair.firstIndex(of: "="),
            queryNames.contains(Self.decoded(pair[..<equals]))
        else { return String(pair) }
        return pair[...equals] + Self.mark
    }

    /// A parameter's name as the server reads it, in lower case.
    private static func decoded(_ name: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }
}

extension HTTPField.Name {
    /// Fields that no standard has, and which commonly hold a secret of one origin.
    static let tokenNames = ["Api-Key", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token"].compactMap { HTTPField.Name($0) }
}

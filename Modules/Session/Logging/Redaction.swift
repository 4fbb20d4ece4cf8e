internal import FoundationEssentials
public import HTTPTypes

/// The values that are hidden in logs and descriptions of requests and responses.
///
/// User information in URLs is always hidden, except with ``insecureShowEverything``.
public struct Redaction: Sendable, Hashable {
    /// The header fields whose values are hidden.
    public var fieldNames: Set<HTTPField.Name>
    /// The names, in lower case, of the parameters in a URL's query or fragment whose values are hidden.
    public var queryNames: Set<String>
    private var hidesUserInfo = true

    /// The text that replaces a hidden value.
    static let mark = "<redacted>"

    /// Creates a redaction.
    public init(fieldNames: Set<HTTPField.Name>, queryNames: Set<String>) {
        self.fieldNames = fieldNames
        self.queryNames = queryNames
    }

    /// Hides credentials, cookies, and query parameters that commonly contain secrets. This is the default of all logs and
    /// descriptions.
    public static let standard = Redaction(
        fieldNames: Set(
            [.authorization, .proxyAuthorization, .cookie, .setCookie, .authenticationInfo]
                + HTTPField.Name.tokenNames),
        queryNames: [
            "access_token", "api_key", "apikey", "auth", "client_secret", "code", "key", "password", "refresh_token",
            "secret", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
        ])

    /// Hides nothing. Descriptions then contain all secrets, so that any reader can replay the request.
    public static let insecureShowEverything: Redaction = {
        var redaction = Redaction(fieldNames: [], queryNames: [])
        redaction.hidesUserInfo = false
        return redaction
    }()

    var hidesNothing: Bool { fieldNames.isEmpty && queryNames.isEmpty && !hidesUserInfo }

    /// Returns a field's value or its replacement. In a field whose value is a URL, only the URL's secrets are replaced.
    func value(of field: HTTPField) -> String {
        if fieldNames.contains(field.name) { return Self.mark }
        guard Self.urlFieldNames.contains(field.name), !hidesNothing else { return field.value }
        return URL(string: field.value).map(text) ?? Self.mark
    }

    private static let urlFieldNames: Set<HTTPField.Name> = [.location, .contentLocation, .referer]

    /// Returns a URL's redacted text. Parameters in the fragment are redacted too, because OAuth's implicit grant returns the
    /// access token there (RFC 6749, section 4.2.2).
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

    private static func isMark(_ byte: UInt8) -> Bool { "?#&;".utf8.contains(byte) }

    private func pair(_ pair: Substring) -> String {
        guard let equals = pair.firstIndex(of: "="),
            queryNames.contains(Self.decoded(pair[..<equals]))
        else { return String(pair) }
        return pair[...equals] + Self.mark
    }

    /// Returns a parameter's name, percent-decoded and in lower case.
    private static func decoded(_ name: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.first != UInt8(ascii: "+"), rest.first != UInt8(ascii: "-"),
                let code = UInt8(String(Substring(rest.prefix(2))), radix: 16)
            {
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
    /// Nonstandard fields that commonly contain a secret of one origin.
    static let tokenNames = ["Api-Key", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token"].compactMap { HTTPField.Name($0) }
}

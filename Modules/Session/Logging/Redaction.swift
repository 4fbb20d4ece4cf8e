internal import FoundationEssentials
public import HTTPTypes

/// What of a request or a response is hidden from those who read logs and descriptions.
///
/// User information in URLs is always hidden, unless nothing is.
public struct Redaction: Sendable, Hashable {
    /// The header fields whose values are hidden.
    public var fieldNames: Set<HTTPField.Name>
    /// The names of parameters in a URL's query whose values are hidden, in lower case.
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
        fieldNames: [
            .authorization, .proxyAuthorization, .cookie, .setCookie, .authenticationInfo, .apiKey, .xAPIKey,
            .xAuthToken, .xCSRFToken,
        ],
        queryNames: [
            "access_token", "api_key", "apikey", "auth", "client_secret", "code", "key", "password", "refresh_token",
            "secret", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
        ])

    /// Hides nothing: what is described can be replayed, by everybody who reads it.
    public static let insecureShowEverything: Redaction = {
        var redaction = Redaction(fieldNames: [], queryNames: [])
        redaction.hidesUserInfo = false
        return redaction
    }()

    var hidesNothing: Bool { fieldNames.isEmpty && queryNames.isEmpty && !hidesUserInfo }

    /// A field's value, or what stands in its place.
    func value(of field: HTTPField) -> String {
        fieldNames.contains(field.name) ? Self.mark : field.value
    }

    /// A URL's text without what is hidden.
    func text(of url: URL) -> String {
        let text = (hidesUserInfo ? url.withoutUserInfo : url).absoluteString
        guard !queryNames.isEmpty, let mark = text.firstIndex(of: "?") else { return text }
        let end = text[mark...].firstIndex(of: "#") ?? text.endIndex
        let query = text[text.index(after: mark)..<end].split(separator: "&", omittingEmptySubsequences: false)
        return text[...mark] + query.map(pair).joined(separator: "&") + text[end...]
    }

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
    fileprivate static let apiKey = make("Api-Key")
    fileprivate static let xAPIKey = make("X-Api-Key")
    fileprivate static let xAuthToken = make("X-Auth-Token")
    fileprivate static let xCSRFToken = make("X-Csrf-Token")

    /// All of these are tokens; one that were not would be left out.
    private static func make(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name) ?? .authorization
    }
}

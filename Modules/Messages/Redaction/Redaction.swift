package import FoundationEssentials
public import HTTPTypes

/// Defines the secrets in requests and responses: values that logs and descriptions hide, and fields that a redirect to
/// another origin does not carry.
///
/// A session takes it from its configuration, where a program can add names:
///
/// ```swift
/// let session = try HTTPSession { $0.redaction.fieldNames.insert(houseKey) }
/// ```
/// Descriptions and mirrors of values without a session hide the same as ``standard``. User information in URLs is
/// always hidden, except with ``insecureShowEverything``.
public struct Redaction: Sendable, Hashable {
    /// The header fields whose values are hidden. The fields of ``standard`` are not sent to another origin even if
    /// they are missing here.
    public var fieldNames: Set<HTTPField.Name>
    /// The names, in lower case, of the parameters in a URL's query or fragment whose values are hidden.
    public var queryNames: Set<String>
    private var hidesUserInfo = true

    /// The text that replaces a hidden value.
    package static let mark = "<redacted>"

    /// Creates a redaction.
    public init(fieldNames: Set<HTTPField.Name>, queryNames: Set<String>) {
        self.fieldNames = fieldNames
        self.queryNames = queryNames
    }

    /// Hides credentials, cookies, and query parameters that commonly contain secrets. This is the default of all logs
    /// and descriptions.
    public static let standard = Redaction(
        fieldNames: Set(
            [.authorization, .proxyAuthorization, .cookie, .setCookie, .authenticationInfo, .proxyAuthenticationInfo]
                + tokenNames.compactMap { HTTPField.Name($0) }),
        queryNames: [
            "access_token", "api_key", "apikey", "auth", "auth_token", "awsaccesskeyid", "client_assertion",
            "client_secret",
            "code", "id_token", "jwt", "key", "oauth_signature", "oauth_token", "passwd", "password", "private_token",
            "pwd",
            "refresh_token", "secret", "session_token", "sig", "signature", "subscription-key", "token",
            "x-amz-credential",
            "x-amz-security-token", "x-amz-signature", "x-api-key", "x-goog-credential", "x-goog-signature",
        ])

    /// The nonstandard fields that contain a secret of one origin.
    private static let tokenNames = [
        "Api-Key", "Apikey", "DD-API-KEY", "DD-APPLICATION-KEY", "Deploy-Token", "Job-Token",
        "Ocp-Apim-Subscription-Key",
        "Private-Token", "X-Access-Token", "X-Amz-Security-Token", "X-Api-Key", "X-Auth-Key", "X-Auth-Token",
        "X-Client-Secret",
        "X-Consul-Token", "X-Csrf-Token", "X-Figma-Token", "X-Functions-Key", "X-Gitlab-Token", "X-Goog-Api-Key",
        "X-Goog-Iap-Jwt-Assertion", "X-Plex-Token", "X-RapidAPI-Key", "X-Registry-Auth", "X-Session-Token",
        "X-Shopify-Access-Token", "X-Subject-Token", "X-Vault-Token", "X-XSRF-Token",
    ]

    /// Hides nothing. Descriptions then contain all secrets, so that any reader can replay the request.
    public static let insecureShowEverything: Redaction = {
        var redaction = Redaction(fieldNames: [], queryNames: [])
        redaction.hidesUserInfo = false
        return redaction
    }()

    package var hidesNothing: Bool { fieldNames.isEmpty && queryNames.isEmpty && !hidesUserInfo }

    /// The fields whose values must not leave their origin: the ones of ``standard`` and these.
    package var credentialNames: Set<HTTPField.Name> { Self.standard.fieldNames.union(fieldNames) }

    /// Returns the fields with their names, such as `Accept: */*`, redacted.
    package func lines(of fields: HTTPFields) -> [String] {
        fields.map { "\($0.name): \(value(of: $0))" }
    }

    /// Returns the text of the URL of a request, redacted.
    package func text(of request: HTTPRequest) -> String {
        let text = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        return URL(string: text).map(self.text) ?? Self.mark
    }

    /// Returns a field's value or its replacement. If the value is a URL, only its secrets are replaced.
    package func value(of field: HTTPField) -> String {
        if fieldNames.contains(field.name) { return Self.mark }
        guard Self.urlFieldNames.contains(field.name), !hidesNothing else { return field.value }
        return URL(string: field.value).map(text) ?? Self.mark
    }

    private static let urlFieldNames: Set<HTTPField.Name> = [.location, .contentLocation, .referer]

    /// Returns a URL's redacted text. Parameters in the fragment are redacted too, because OAuth's implicit grant
    /// returns the access token there (RFC 6749, section 4.2.2).
    package func text(of url: URL) -> String {
        hidden((hidesUserInfo ? url.withoutUserInfo : url).absoluteString)
    }

    /// Returns a text in the format of a query (`application/x-www-form-urlencoded`), redacted.
    package func text(ofForm form: String) -> String { String(hidden("&" + form).dropFirst()) }

    private func hidden(_ text: String) -> String {
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

    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "&"), UInt8(ascii: ";"): true
        default: false
        }
    }

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

extension URL {
    /// The URL without user name and password.
    package var withoutUserInfo: URL {
        guard absoluteString.utf8.contains(UInt8(ascii: "@")), user() != nil || password() != nil else { return self }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        components.user = nil
        components.password = nil
        return components.url ?? self
    }
}

/// The reasons not to store a cookie. Each case is a step of RFC 6265bis, section 5.7, unless it names another.
enum CookieRefusal: Error, Hashable {
    /// The jar's accept policy (sections 5.3 and 7.2).
    case policy
    /// A control character in the field (section 5.6, step 1) or the cookie (step 3).
    case control
    /// Neither a name nor a value (step 2).
    case empty
    /// Name and value have more than 4,096 octets (step 4).
    case tooLong
    /// The Domain attribute has characters other than ASCII (step 8).
    case domainCharacters
    /// The Domain attribute is a public suffix, and not the host itself (step 9).
    case publicSuffix
    /// The host does not match the Domain attribute (step 10).
    case foreignDomain
    /// A secure cookie, received over an insecure connection (step 13).
    case insecureOrigin
    /// An insecure cookie would hide a secure one (step 16).
    case overlaysSecure
    /// A cross-site request (step 18).
    case crossSite
    /// SameSite=None without Secure (step 19).
    case sameSiteNone
    /// The requirements of the prefix `__Secure-` (step 20).
    case securePrefix
    /// The requirements of the prefix `__Host-` (step 21).
    case hostPrefix
    /// The requirements of the prefixes `__Http-` and `__Host-Http-` (draft-ietf-httpbis-layered-cookies).
    case httpPrefix
    /// A value with a prefix and no name (step 22).
    case namelessPrefix
    /// The text would be read as another cookie, or the path or domain is invalid. Only for cookies that the program
    /// makes.
    case malformed

    /// A message about the violated rule, for an error of a cookie that the program makes.
    var message: String {
        switch self {
        case .empty: "A cookie needs a name or a value."
        case .control: "The name, the value or the path of a cookie contains a control character."
        case .tooLong: "The name and the value of a cookie have more than 4,096 bytes, or its path has more than 1,024."
        case .sameSiteNone: "A cookie with SameSite=None must be secure."
        case .securePrefix: "A cookie whose name begins with __Secure- must be secure."
        case .hostPrefix:
            "A cookie whose name begins with __Host- must be secure, for one host alone, and have the path \"/\"."
        case .httpPrefix:
            "A cookie whose name begins with __Http- or __Host-Http- must be secure and HttpOnly."
        case .namelessPrefix: "The value of a cookie without a name begins with __Secure-, __Host- or __Http-."
        case .malformed:
            "The name of a cookie must not contain \"=\", neither name nor value may contain \";\" or begin or end with a "
                + "space, the path must begin with \"/\", the domain must be a host without a leading dot, and dates be finite."
        case .policy, .domainCharacters, .publicSuffix, .foreignDomain, .insecureOrigin, .overlaysSecure, .crossSite:
            "The cookie was received from a server that may not set it."
        }
    }
}

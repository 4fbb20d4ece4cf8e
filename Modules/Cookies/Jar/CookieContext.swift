public import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages

/// The purpose of a request, which decides about SameSite cookies and third-party cookies (RFC 6265bis, section 5.2).
///
/// A program that is not a browser makes requests of its own accord: no page of another site can make it send one. Such
/// requests have no main document and are same-site: ``sameSite`` is the default everywhere, and the SameSite attribute
/// then has no effect. A program that shows pages sets ``mainDocument`` for the requests of each page.
public struct CookieContext: Hashable, Sendable {
    /// The URL of the document that the user sees; nil for a request of the program itself.
    ///
    /// The request is same-site if both URLs have the same scheme and the same registrable domain
    /// (``PublicSuffixList``), or the same host. A document with any other scheme than http and https is cross-site.
    /// The default is nil.
    public var mainDocument: URL?
    /// Whether the response replaces the main document. The default is false.
    public var isTopLevelNavigation: Bool
    /// The method of the request. Cross-site requests carry Lax cookies only with GET, HEAD, OPTIONS and TRACE. The
    /// default is GET.
    public var method: HTTPRequest.Method

    /// Makes a context. The defaults describe a request of the program itself.
    public init(mainDocument: URL? = nil, isTopLevelNavigation: Bool = false, method: HTTPRequest.Method = .get) {
        self.mainDocument = mainDocument
        self.isTopLevelNavigation = isTopLevelNavigation
        self.method = method
    }

    /// A request of the program itself, which is same-site.
    public static let sameSite = CookieContext()
}

extension CookieContext: CustomReflectable {
    /// The properties, redacted with `Redaction.standard`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "mainDocument": mainDocument.map(Redaction.standard.text) as Any,
                "isTopLevelNavigation": isTopLevelNavigation, "method": method.rawValue,
            ], displayStyle: .struct)
    }
}

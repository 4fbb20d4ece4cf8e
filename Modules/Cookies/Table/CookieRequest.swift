internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

/// The properties of a request that select its cookies (RFC 6265bis, sections 5.2, 5.7 and 5.8.3).
struct CookieRequest {
    let host: HostName
    /// The canonical text of the host (section 5.1.2).
    let domain: String
    /// The path of the URL as it is sent, without the query.
    let path: CookieBytes
    /// Whether the connection counts as secure: https, or a server on this machine.
    let isSecure: Bool
    /// Whether the request is same-site (section 5.2).
    let isSameSite: Bool
    let isTopLevelNavigation: Bool
    let hasSafeMethod: Bool
    /// Whether the host has the site of the main document, regardless of the scheme, or there is no main document.
    let isOfMainDocument: Bool

    /// Returns nil for URLs other than http and https, and for those without a valid host.
    init?(_ url: URL, _ context: CookieContext, _ suffixes: PublicSuffixList) {
        guard let target = try? RequestTarget(parsing: url), let host = HostName(target.origin.host) else { return nil }
        // Read here, since the table asks for the suffixes under the jar's lock.
        suffixes.load()
        self.host = host
        domain = host.text
        path = CookieBytes(target.pathAlone.utf8)
        isSecure = target.origin.isSecure || host.isThisMachine
        isTopLevelNavigation = context.isTopLevelNavigation
        hasSafeMethod = [.get, .head, .options, .trace].contains(context.method)
        guard let document = context.mainDocument else {
            (isSameSite, isOfMainDocument) = (true, true)
            return
        }
        let other = (try? RequestTarget(parsing: document))?.origin
        isOfMainDocument = other.flatMap { HostName($0.host) }.map { suffixes.site(of: $0) } == suffixes.site(of: host)
        // A page without TLS can be forged, so it is not the same site as the one with TLS ("schemeful same-site").
        isSameSite = isOfMainDocument && other?.isSecure == target.origin.isSecure
    }
}

extension PublicSuffixList {
    /// The site of a host: its registrable domain, or the host itself if it has none.
    fileprivate func site(of host: HostName) -> String { registrableDomain(of: host.text) ?? host.text }
}

extension HostName {
    /// `localhost`, or a loopback address. Browsers also trust connections to these as secure.
    fileprivate var isThisMachine: Bool {
        switch self {
        case .name(let name): name == "localhost"
        case .address(let bytes):
            bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }
}

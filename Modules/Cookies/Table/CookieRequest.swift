internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

/// The properties of a request that decide which cookies it gets (RFC 6265bis, sections 5.2, 5.7 and 5.8.3).
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
    /// Whether the host is of the main document's site, whatever the scheme, or there is no main document.
    let isOfMainDocument: Bool

    /// Nil if the URL is no http or https URL with a valid host.
    init?(_ url: URL, _ context: CookieContext, _ suffixes: PublicSuffixList) {
        guard let target = try? RequestTarget(parsing: url), let host = HostName(target.origin.host) else { return nil }
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
        isSameSite = isOfMainDocument && other?.isSecure == target.origin.isSecure
    }
}

extension PublicSuffixList {
    /// What two hosts of one site share: the registrable domain, else the host itself.
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

public import FoundationEssentials
internal import LinnetMessages
internal import Synchronization

/// The hosts that have asked to be requested over https only: HTTP Strict Transport Security (RFC 6797), in memory.
///
/// ```swift
/// let session = try HTTPSession { $0.hstsStore = HSTSStore() }
/// ```
/// A session with a store changes http URLs of known hosts to https before anything is sent, including the URLs of
/// redirects, and stores the hosts of Strict-Transport-Security fields. Only https responses over a connection without
/// errors count (section 8.1): the certificate was verified and matched the host. Sessions can share a store.
///
/// The store is empty at first. A program adds a preloaded list with ``add(_:)``, and keeps ``hosts`` in a file of its
/// own.
public final class HSTSStore: Sendable {
    private let table: Mutex<HSTSTable>
    private let now: @Sendable () -> Date

    /// Creates an empty store.
    ///
    /// - Parameter limit: The maximum number of stored hosts. Beyond it, expired hosts are removed, then the hosts that
    ///   were confirmed longest ago. The default is 10,000.
    public convenience init(limit: Int = 10_000) {
        self.init(limit: limit, now: { Date() })
    }

    package init(limit: Int, now: @escaping @Sendable () -> Date) {
        table = Mutex(HSTSTable(limit: limit))
        self.now = now
    }

    /// The known hosts that have not expired, by name. They can be encoded, and added to another store.
    public var hosts: [Host] {
        let now = now()
        return table.withLock { $0.hosts(at: now) }
    }

    /// Adds hosts. Addresses, names that are not ASCII (use their Punycode form), and expired hosts are ignored.
    public func add(_ hosts: some Sequence<Host>) {
        let now = now()
        let known = hosts.compactMap { host -> Host? in
            guard host.expires > now, let name = Self.name(host.name) else { return nil }
            return Host(name: name, includesSubdomains: host.includesSubdomains, expires: host.expires)
        }
        table.withLock { table in
            for host in known { table.add(host, at: now) }
        }
    }

    /// Removes a host. Domains above it that include it stay.
    public func remove(_ name: String) {
        guard let name = Self.name(name) else { return }
        table.withLock { $0.remove(name) }
    }

    /// Removes all hosts.
    public func removeAll() {
        table.withLock { $0.removeAll() }
    }

    /// Returns the URL to request: with the scheme https if the URL is an http URL of a known host, otherwise unchanged
    /// (RFC 6797, section 8.3). Port 80 becomes the port of https; other ports stay.
    public func upgrading(_ url: URL) -> URL {
        guard let target = try? RequestTarget(parsing: url), !target.origin.isSecure,
            let name = Self.name(target.origin.host)
        else { return url }
        let now = now()
        guard table.withLock({ $0.contains(name, at: now) }) else { return url }
        var reference = URIReference(url.absoluteString)
        reference.scheme = "https"
        if target.origin.port == 80, let authority = reference.authority {
            // A known host name has no colon, so the rest after the last colon is the port, or a password.
            let host = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8.index(after: $0) }
            if let colon = authority[(host ?? authority.startIndex)...].utf8.firstIndex(of: UInt8(ascii: ":")) {
                reference.authority = authority[..<colon]
            }
        }
        return URL(string: reference.text) ?? url
    }

    /// Stores or removes a host by the Strict-Transport-Security fields of its response (RFC 6797, section 8.1).
    ///
    /// The first field counts. A field that does not conform, a response over http, and a host that is an address
    /// change nothing.
    ///
    /// - Parameters:
    ///   - fields: The values of the fields, in order.
    ///   - url: The URL of the response, which arrived over TLS with a verified certificate.
    public func store(strictTransportSecurity fields: [String], of url: URL) {
        guard let field = fields.first, let target = try? RequestTarget(parsing: url), target.origin.isSecure,
            let name = Self.name(target.origin.host), let policy = StrictTransportSecurity(field)
        else { return }
        let now = now()
        guard policy.maximumAge > 0 else { return table.withLock { $0.remove(name) } }
        let host = Host(
            name: name, includesSubdomains: policy.includesSubdomains,
            expires: now.addingTimeInterval(Double(policy.maximumAge)))
        table.withLock { $0.add(host, at: now) }
    }

    private static func name(_ host: String) -> String? {
        if case .name(let name) = HostName(host) { name } else { nil }
    }
}

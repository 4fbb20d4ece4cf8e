internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSecurity
internal import NIOCore
internal import Synchronization

/// The properties that connections must share to be interchangeable.
struct PoolKey: Hashable, Sendable {
    let origin: Origin
    /// The identity of the policy; nil for plain HTTP.
    let policy: SecurityPolicy.Identity?
    /// The client identity, or the function that chooses one; nil for none.
    let clientIdentity: ClientIdentity.ID?
    /// The proxy; nil for a direct connection.
    let proxy: ProxyServer?

    init(_ origin: Origin, via proxy: ProxyServer? = nil, under terms: ConnectionTerms) {
        self.origin = origin
        self.proxy = proxy
        // A policy only decides whether clear text is allowed, which `isValid(under:)` asks.
        policy = origin.isSecure ? terms.securityPolicy.identity : nil
        clientIdentity = origin.isSecure ? terms.clientIdentities.key(for: origin.host) : nil
    }

    /// Hashes the origin only, since few keys differ in the rest.
    func hash(into hasher: inout Hasher) {
        origin.hash(into: &hasher)
    }

    /// Whether connections with this key may be used under the current terms.
    func isValid(under current: ConnectionTerms) -> Bool {
        policy == nil ? current.refusal(of: origin) == nil : self == PoolKey(origin, via: proxy, under: current)
    }
}

/// The security policy and the client identities that connections are made under.
///
/// A reference type, since each request reads them.
final class ConnectionTerms: Sendable {
    let securityPolicy: SecurityPolicy
    let clientIdentities: ClientIdentityPolicy
    /// The number of replacements, so that the later of two concurrent ones wins everywhere.
    let revision: UInt64

    init(_ securityPolicy: SecurityPolicy, _ clientIdentities: ClientIdentityPolicy = .none, revision: UInt64 = 0) {
        self.securityPolicy = securityPolicy
        self.clientIdentities = clientIdentities
        self.revision = revision
    }

    /// The refusal of requests to an origin; nil if they are allowed.
    func refusal(of origin: Origin) -> TransportError? {
        guard !origin.isSecure, !securityPolicy.allowsCleartext(to: origin.host) else { return nil }
        return TransportError(
            .cleartextRefused,
            "The security policy does not allow clear text to \(origin.host); use https instead of http.",
            endpoint: origin.endpoint)
    }

    /// Returns the next terms, with the given parts replaced.
    func replacing(_ policy: SecurityPolicy? = nil, _ identities: ClientIdentityPolicy? = nil) -> ConnectionTerms {
        ConnectionTerms(policy ?? securityPolicy, identities ?? clientIdentities, revision: revision + 1)
    }
}

extension Origin {
    /// The origin of a request.
    init(_ head: HTTPRequest) throws(TransportError) {
        let isSecure = head.scheme == "https"
        guard isSecure || head.scheme == "http" else {
            throw TransportError(.invalidRequest, "The scheme \"\(head.scheme ?? "")\" is neither http nor https.")
        }
        do {
            try self.init(isSecure: isSecure, authority: head.authority ?? "")
        } catch {
            throw TransportError(
                .invalidRequest,
                "\"\(head.authority ?? "")\" is not a host with an optional port: use an ASCII name, an IPv4 address or an "
                    + "IPv6 address in brackets.")
        }
    }
}

/// Remembers what servers have recently announced, for later connections to the same origin.
final class OriginMemory<Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let end: NIODeadline
    }

    /// The lifetime of a value.
    private let time = TimeAmount.hours(1)
    /// The maximum number of origins; the oldest is dropped beyond that.
    private let most = 1_000

    private let entries = Mutex<[Origin: Entry]>([:])
    /// Read without the lock by each request, since most transports remember nothing.
    private let isEmpty = Atomic(true)

    func value(for origin: Origin, _ now: @autoclosure () -> NIODeadline) -> Value? {
        guard !isEmpty.load(ordering: .acquiring) else { return nil }
        let now = now()
        return entries.withLock { entries in
            entries[origin].flatMap { $0.end > now ? $0.value : nil }
        }
    }

    func remember(_ value: Value, for origin: Origin, _ now: NIODeadline) {
        let entry = Entry(value: value, end: now + time)
        entries.withLock { entries in
            if entries.count >= most, entries[origin] == nil {
                entries = entries.filter { $0.value.end > now }
                if entries.count >= most, let first = entries.min(by: { $0.value.end < $1.value.end }) {
                    entries[first.key] = nil
                }
            }
            entries[origin] = entry
        }
        // After the value is stored, which a reader that sees the flag then finds.
        isEmpty.store(false, ordering: .releasing)
    }
}

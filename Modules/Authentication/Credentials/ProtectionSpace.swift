public import LinnetMessages

/// A realm of an origin, to which a credential applies (RFC 9110, section 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// The origin: scheme, host and port.
    public var origin: Origin
    /// The realm. Nil matches every realm of the origin that has no credential of its own.
    public var realm: String?

    /// Creates a space. The default realm is nil, which matches every realm.
    public init(origin: Origin, realm: String? = nil) {
        self.origin = origin
        self.realm = realm
    }
}

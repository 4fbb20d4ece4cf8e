/// A realm of an origin, to which a credential applies (RFC 9110, section 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// Scheme, host and port.
    public var origin: Origin
    /// The realm; nil for every realm of the origin that has no credential of its own.
    public var realm: String?

    /// Makes a space. The default of `realm` is every realm.
    public init(origin: Origin, realm: String? = nil) {
        self.origin = origin
        self.realm = realm
    }
}

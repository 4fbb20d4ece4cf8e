public import FoundationEssentials

extension HSTSStore {
    /// A host that is requested over https only (RFC 6797, section 5.3, a Known HSTS Host).
    public struct Host: Sendable, Hashable, Codable {
        /// The name in lower case, without a trailing dot.
        public var name: String
        /// Whether the same applies to the names below it.
        public var includesSubdomains: Bool
        /// When it ends.
        public var expires: Date

        /// Creates a host, for example for a preloaded list.
        public init(name: String, includesSubdomains: Bool, expires: Date) {
            self.name = name
            self.includesSubdomains = includesSubdomains
            self.expires = expires
        }
    }
}

public import FoundationEssentials

extension CookieJar {
    /// The settings of a jar.
    public struct Configuration: Sendable {
        /// Which cookies of servers are stored. The default is ``AcceptPolicy/always``.
        public var acceptPolicy = AcceptPolicy.always
        /// The domains that cookies are not set for. The default is ``PublicSuffixList/system``.
        public var publicSuffixes = PublicSuffixList.system
        /// The source of the current time, which is called on the thread that uses the jar. The default is the system's clock.
        public var now: @Sendable () -> Date = { Date() }

        /// Makes a configuration with the defaults.
        public init() {}
    }

    /// Which cookies are stored (RFC 6265bis, section 7.2). Cookies that are stored are sent under each policy.
    public struct AcceptPolicy: Hashable, Sendable, CustomStringConvertible {
        /// The name of the policy.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// All that the rules of RFC 6265bis allow.
        public static let always = AcceptPolicy("always")
        /// None, not even those that the program sets.
        public static let never = AcceptPolicy("never")
        /// Those of responses whose URL has the registrable domain of ``CookieContext/mainDocument``, or its host. A request without
        /// a main document is its own. Cookies that the program sets are stored.
        public static let onlyFromMainDocumentDomain = AcceptPolicy("onlyFromMainDocumentDomain")

        func accepts(_ request: CookieRequest) -> Bool {
            self == .always || self == .onlyFromMainDocumentDomain && request.isOfMainDocument
        }
    }
}

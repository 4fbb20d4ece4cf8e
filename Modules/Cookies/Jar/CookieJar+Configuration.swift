public import FoundationEssentials

extension CookieJar {
    /// The settings of a jar.
    public struct Configuration: Sendable {
        /// The cookies that the jar accepts. The default is ``AcceptPolicy/always``.
        public var acceptPolicy = AcceptPolicy.always
        /// The domains that no server can set cookies for. The default is ``PublicSuffixList/system``.
        public var publicSuffixes = PublicSuffixList.system
        /// The source of the current time, called on the thread that uses the jar. The default is the system's clock.
        public var now: @Sendable () -> Date = { Date() }

        /// Makes a configuration with the defaults.
        public init() {}
    }

    /// Decides which cookies are stored (RFC 6265bis, section 7.2). Stored cookies are sent under each policy.
    public struct AcceptPolicy: Hashable, Sendable, CustomStringConvertible {
        /// The name of the policy.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Stores all cookies that RFC 6265bis allows.
        public static let always = AcceptPolicy("always")
        /// Stores no cookies, not even those set by the program.
        public static let never = AcceptPolicy("never")
        /// Stores cookies of responses whose URL has the host or the registrable domain of
        /// ``CookieContext/mainDocument``. A request without a main document is its own. Cookies set by the program are
        /// stored.
        public static let onlyFromMainDocumentDomain = AcceptPolicy("onlyFromMainDocumentDomain")

        func accepts(_ request: CookieRequest) -> Bool {
            self == .always || self == .onlyFromMainDocumentDomain && request.isOfMainDocument
        }
    }
}

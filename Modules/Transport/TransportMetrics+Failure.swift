extension TransportMetrics {
    /// What is known of a request whose attempt failed: whether the server can have processed it.
    ///
    /// It decides whether the request is sent again; see ``HTTPTransport/send(_:observer:)``.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        private let number: UInt8

        /// No connection could be opened for it.
        public static let notConnected = Failure(number: 0)
        /// The connection had ended before the request's first byte.
        public static let notSent = Failure(number: 1)
        /// The server says that it has not processed the request (RFC 9113, 8.7): it refused its stream, or said GOAWAY
        /// before it.
        public static let notProcessed = Failure(number: 2)
        /// The connection ended without a byte of response, and had lain idle before the request came: the server may have
        /// closed it before, and may as well have processed the request (RFC 9112, 9.3.1).
        public static let staleConnection = Failure(number: 3)
        /// Anything else: the server may have processed the request, or the request itself is at fault.
        public static let other = Failure(number: 4)

        /// The failure's name.
        public var description: String {
            switch self {
            case .notConnected: "notConnected"
            case .notSent: "notSent"
            case .notProcessed: "notProcessed"
            case .staleConnection: "staleConnection"
            default: "other"
            }
        }
    }
}

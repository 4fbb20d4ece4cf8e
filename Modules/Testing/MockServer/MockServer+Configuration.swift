public import FoundationEssentials
public import LinnetSecurity

extension MockServer {
    /// The settings of a ``MockServer``.
    public struct Configuration: Sendable {
        /// How the bodies of requests are passed to the handler.
        public enum RequestBodies: Sendable, Hashable {
            /// The handler is called after the whole request was received, with the body in ``RecordedRequest/body``. A
            /// larger body is answered with status 413 without calling the handler.
            case collected(upTo: Int)
            /// The handler is called after the head was received. It can read ``RecordedRequest/chunks``, or answer
            /// before the end of the body.
            case streamed
        }

        /// Whether the server requests client certificates (RFC 8446, 4.3.2).
        public enum ClientCertificates: Sendable, Hashable {
            /// The server requests no certificate.
            case ignored
            /// A client can present a certificate of these authorities. Any other certificate fails the handshake.
            case requested(issuedBy: [X509Certificate])
            /// A client must present a certificate of these authorities.
            case required(issuedBy: [X509Certificate])
        }

        /// The host name in the server's URL. The server listens on 127.0.0.1 only, or on ``unixSocket``.
        ///
        /// The default is `127.0.0.1`.
        public var hostName = "127.0.0.1"
        /// The port. A port that is in use is ``TestingError/Code/cannotListen``.
        ///
        /// The default is 0, which selects a free one.
        public var port = 0
        /// The path of a unix socket that the server listens on, in place of a port. The server's ``MockServer/port``
        /// is then the default port of its scheme, and its shutdown removes the file.
        ///
        /// The default is nil.
        public var unixSocket: String?
        /// The HTTP versions that the server supports.
        ///
        /// The default is ``HTTPVersions/http1``, so that the version does not depend on the client.
        public var httpVersions = HTTPVersions.http1
        /// The settings and deliberate behaviour of the server over HTTP/2.
        ///
        /// The defaults come from ``HTTP2``.
        public var http2 = HTTP2()
        /// How the bodies of requests are passed to the handler.
        ///
        /// The default is `.collected` with a limit of 64 MiB.
        public var requestBodies = RequestBodies.collected(upTo: 64 * 1024 * 1024)
        /// Whether `100 Continue` is sent to a client that expects it (RFC 9110, 10.1.1) before its body is read.
        ///
        /// The default is true.
        public var sendsContinue = true
        /// Whether the server issues session tickets, with which clients can resume a TLS session.
        ///
        /// The default is false.
        public var issuesSessionTickets = false
        /// Whether the server requests client certificates. ``RecordedRequest/clientCertificate`` is the presented one.
        ///
        /// The default is `.ignored`.
        public var clientCertificates = ClientCertificates.ignored
        /// The OCSP response, in DER, that is stapled for clients that request it (RFC 6066, 8).
        ///
        /// The default is nil.
        public var stapledOCSPResponse: Data?
        /// The maximum number of requests of a connection. The default is nil: no limit. Beyond it, the connection is
        /// closed: the last response contains `Connection: close`, and over HTTP/2 GOAWAY is sent.
        ///
        /// To close without an announcement, use a ``Fault`` at ``Fault/Trigger/responseEnd``.
        public var maximumRequestsPerConnection: Int?
        /// The faults that occur independently of a response.
        ///
        /// The default is none.
        public var faults = FaultPlan.none
        /// The clock for delays and throttles. With a ``ManualClock`` the test ends them.
        ///
        /// The default is the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Creates the default configuration.
        public init() {}

        /// Creates a configuration from the defaults.
        ///
        /// - Parameter configure: Changes the defaults.
        public init(_ configure: (inout Configuration) throws -> Void) rethrows {
            try configure(&self)
        }
    }
}

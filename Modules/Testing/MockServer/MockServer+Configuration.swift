public import FoundationEssentials
public import LinnetSecurity

extension MockServer {
    /// What a ``MockServer`` is made with.
    public struct Configuration: Sendable {
        /// How request bodies reach the handler.
        public enum RequestBodies: Sendable, Hashable {
            /// The handler is called when the whole request is there; its body is in ``RecordedRequest/body``. A larger
            /// one is answered with 413, without the handler.
            case collected(upTo: Int)
            /// The handler is called with the head, and may read ``RecordedRequest/chunks``, or answer before the end.
            case streamed
        }

        /// What becomes of the certificates that clients can show (RFC 8446, 4.3.2).
        public enum ClientCertificates: Sendable, Hashable {
            /// The server does not ask for any.
            case ignored
            /// A client may show one that these authorities issued; another one ends the handshake.
            case requested(issuedBy: [Certificate])
            /// A client has to.
            case required(issuedBy: [Certificate])
        }

        /// The name in the server's URL; it listens on 127.0.0.1 alone.
        ///
        /// The default is `127.0.0.1`.
        public var hostName = "127.0.0.1"
        /// Which versions of HTTP the server speaks.
        ///
        /// The default is ``HTTPVersions/http1``: a client that can speak both then meets one of them, the same in each
        /// run of a test.
        public var httpVersions = HTTPVersions.http1
        /// What the server announces, and does on purpose, over HTTP/2.
        ///
        /// The defaults are those of ``HTTP2Options``.
        public var http2 = HTTP2Options()
        /// How request bodies reach the handler.
        ///
        /// The default is `.collected`, up to 64 MiB.
        public var requestBodies = RequestBodies.collected(upTo: 64 * 1024 * 1024)
        /// Whether `100 Continue` is sent to a client that expects it (RFC 9110, 10.1.1) when its body is about to be
        /// read.
        ///
        /// The default is true.
        public var sendsContinue = true
        /// Whether clients get tickets with which they can resume their TLS session on another connection.
        ///
        /// The default is false.
        public var issuesSessionTickets = false
        /// What becomes of the certificates that clients can show; ``RecordedRequest/clientCertificate`` is the one that
        /// was shown.
        ///
        /// The default is `.ignored`.
        public var clientCertificates = ClientCertificates.ignored
        /// The OCSP response that is stapled to the chain for clients that ask for one (RFC 6066, 8), in DER.
        ///
        /// Nil, the default, is none.
        public var stapledOCSPResponse: Data?
        /// After this many requests a connection is closed, and its last response says so; over HTTP/2, GOAWAY does.
        ///
        /// Nil, the default, is no limit. To close without a word, use a ``Fault`` at ``Fault/Trigger/responseEnd``.
        public var maximumRequestsPerConnection: Int?
        /// What goes wrong on the way, before there is a response to carry its own faults.
        ///
        /// The default is nothing.
        public var faults = FaultPlan.none
        /// Measures delays and throttles; a ``ManualClock`` lets a test decide when they are over.
        ///
        /// The default is the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The defaults.
        public init() {}

        /// The defaults, changed by a closure.
        public init(_ configure: (inout Configuration) throws -> Void) rethrows {
            try configure(&self)
        }
    }
}

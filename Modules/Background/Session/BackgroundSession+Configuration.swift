public import FoundationEssentials
public import HTTPTypes
public import LinnetSession

extension BackgroundSession {
    /// The configuration of a background session, fixed when it is opened. It is not stored: each process brings its
    /// own, and the process that transfers applies its own.
    public struct Configuration: Sendable {
        /// The process's part in the transfers. The default is ``Role/program``.
        public var role = Role.program
        /// The session that sends all requests, also of adopted tasks. Credentials that its serializer, adapters
        /// and authenticators add are added to each attempt, and are not stored. The default is nil: a session with the
        /// default configuration, which the background session shuts down. A given session is not shut down.
        public var session: HTTPSession?
        /// Returns the header fields of a credential by the name that a task has (``TransferOptions/credential``), for
        /// example `[.authorization: "Bearer …"]`, and nil if there is none now. It is called for each request, in the
        /// process that transfers, with the URL of the request.
        ///
        /// The fields must be among those that are not sent to another origin after a redirect, which
        /// `Redaction.standard` and the session's `redaction` define; others fail the task with
        /// ``BackgroundError/Code/invalidRequest``. Without a result, or after an error, the task waits with
        /// ``BackgroundError/Code/credentialUnavailable``; it is tried again after a minute, and when another session
        /// begins to transfer. The default is nil: no credential is available.
        public var credential: (@Sendable (_ name: String, _ url: URL) async throws -> HTTPFields?)?
        /// The maximum number of tasks that are transferred at once. A download whose bytes have all arrived does not
        /// count: its file is checked and moved while the next one is transferred. The default is 4. Beyond it, tasks
        /// wait.
        public var maximumActive = 4
        /// The maximum number of tasks that are transferred at once from or to one host and port. The default is 4.
        /// Beyond it, tasks wait.
        public var maximumActivePerHost = 4
        /// Decides whether and when a failed attempt is repeated. The time of the next attempt is stored, so it
        /// survives the process. Attempts before one that transferred bytes do not count. A request with an
        /// Idempotency-Key is repeated whatever its method, with the same key. The default is 10 retries, waits of one
        /// second to ten minutes, and any Retry-After up to seven days.
        public var retryPolicy = Configuration.defaultRetryPolicy
        /// How often an upload that was interrupted, for example by the end of its process, is sent again. A server may
        /// receive it that many times more. The default is 3, as in AFNetworking.
        public var attemptsToRecreateUploads = 3
        /// The time for which ended tasks are kept in the journal. The default is seven days.
        public var keepsEndedTasks = Duration.seconds(7 * 86_400)

        /// Lets tests end the process at a step of the protocol.
        package var reachFaultPoint: (@Sendable (_ name: String) -> Void)?
        /// The clock for waits.
        package var clock: any Clock<Duration> = ContinuousClock()

        /// Creates the default configuration.
        public init() {}

        /// The part of a session among all sessions of its directory, of which one transfers.
        public struct Role: Hashable, Sendable, CustomStringConvertible {
            /// The role's name.
            public let description: String

            private init(_ description: String) { self.description = description }

            /// Transfers if no other program does, takes the transfers over from an agent within a second, and from
            /// another program when that ends.
            public static let program = Role("program")
            /// Transfers while no program does, and gives the transfers up to a program that opens the directory.
            public static let agent = Role("agent")
            /// Adds, reads and controls tasks, and never transfers.
            public static let observer = Role("observer")
        }

        static let defaultRetryPolicy: RetryPolicy = {
            var policy = RetryPolicy.limited(to: 10)
            policy.backoff.first = .seconds(1)
            policy.backoff.maximum = .seconds(600)
            policy.maximumRetryAfter = .seconds(7 * 86_400)
            return policy
        }()
    }
}

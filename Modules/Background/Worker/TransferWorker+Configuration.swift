public import FoundationEssentials
public import HTTPTypes
public import LinnetSession

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension TransferWorker {
    /// The configuration of a worker, fixed when it is made.
    public struct Configuration: Sendable {
        /// The name of the worker in the store, for people. The default is the name of the machine and the number of
        /// the process.
        public var name = "\(ProcessInfo.processInfo.hostName), process \(getpid())"
        /// The session that sends all requests, and adds its own credentials. It is not shut down. The default is nil:
        /// a session with the default configuration.
        public var session: HTTPSession?
        /// Returns the header fields of a named credential; see ``BackgroundSession/Configuration/credential``. The
        /// default is nil: none is available, and a transfer that names one waits a minute, for any worker.
        public var credential: (@Sendable (_ name: String, _ url: URL) async throws -> HTTPFields?)?
        /// Turns the name of an upload's file (``StoredTransfer/source``) into the file, for each attempt. Names come
        /// from each program that can add transfers: ``Source/file(_:in:)`` refuses those that would leave a folder. An
        /// error fails the attempt, and the retry policy decides; one with ``BackgroundError/Code/sourceChanged`` fails
        /// the transfer. The default is nil: the worker takes downloads only.
        public var source: (@Sendable (StoredTransfer) async throws -> Source)?
        /// The maximum number of transfers at once; at least 1. The default is 4. Beyond it, the worker takes no
        /// transfer from the store.
        public var maximumActive = 4
        /// The maximum number of transfers that this worker has at once from or to one host and port; at least 1.
        /// Workers do not count for each other, so that their limits add up. The default is 4. Beyond it, the worker
        /// takes no transfer of the host from the store.
        public var maximumActivePerHost = 4
        /// The largest number of bytes a second of all transfers of the worker. The default is nil: no limit. Beyond
        /// it, transfers wait.
        public var bytesPerSecond: Int64?
        /// Decides whether and when a failed attempt is repeated, by any worker. The default is the same as
        /// for ``BackgroundSession/Configuration/retryPolicy``.
        public var retryPolicy = BackgroundSession.Configuration.defaultRetryPolicy
        /// The time after which a lease ends that is not renewed; a second to a week. A worker renews its leases three
        /// times in it. A transfer of a worker that has ended or is cut off waits this long for another. The default is
        /// a minute.
        public var leaseDuration = Duration.seconds(60)
        /// The longest time after which the worker looks for transfers, also if the store tells no change. The default
        /// is 15 seconds.
        public var pollInterval = Duration.seconds(15)
        /// Is told each lease and its end, for logs. It is called on any thread, and should return soon. The default is
        /// nil.
        public var observe: (@Sendable (Event) -> Void)?

        /// The time after which the worker looks again for parts of transfers that have ended.
        package var sweepInterval = Duration.seconds(600)
        /// The clock for waits.
        package var clock: any Clock<Duration> = ContinuousClock()

        /// Creates the default configuration.
        public init() {}
    }

    /// News of a worker.
    public struct Event: Sendable {
        /// The kind of an event.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The kind's name.
            public let description: String

            private init(_ description: String) { self.description = description }

            /// The worker has leased the transfer, and begins an attempt.
            public static let leased = Kind("leased")
            /// The store has taken the end of the lease. The transfer has completed, failed, was paused or cancelled,
            /// or waits for another attempt.
            public static let ended = Kind("ended")
            /// The lease was lost, and the result was dropped.
            public static let leaseLost = Kind("leaseLost")
            /// The store cannot be used now; ``Event/error`` tells why. It has no transfer.
            public static let storeFailed = Kind("storeFailed")
        }

        /// The kind of the event.
        public let kind: Kind
        /// The transfer, as the worker last read it.
        public let transfer: StoredTransfer?
        /// The error of the store.
        public let error: BackgroundError?
    }
}

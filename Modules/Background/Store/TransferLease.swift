public import LinnetSession

/// A worker's right to transfer a transfer of a ``TransferStore``, until it ends.
public struct TransferLease: Sendable {
    /// The transfer when it was leased.
    public let transfer: StoredTransfer

    /// The number of the lease in the order of its transfer's leases. A store refuses the results of older leases.
    public var fencingNumber: Int { transfer.machine.attempts }

    /// The status of a lease.
    public enum Status: Sendable, Hashable {
        /// The lease is the worker's.
        case held
        /// The lease is the worker's, which is to stop: the transfer will be paused.
        case pauseRequested
        /// The lease is the worker's, which is to stop: the transfer will be cancelled.
        case cancelRequested
        /// The lease has ended. The worker stops, and drops what it has.
        case lost
    }

    /// A lease that goes on.
    public struct Renewal: Sendable {
        /// The lease.
        public let lease: TransferLease
        /// The bytes transferred so far; nil to leave the stored progress as it is.
        public let progress: TransferProgress?
        /// The results of the attempt; nil to leave them as they are.
        let result: TransferResult?

        /// Creates a renewal.
        public init(_ lease: TransferLease, progress: TransferProgress? = nil) {
            self.lease = lease
            self.progress = progress
            result = nil
        }

        init(_ lease: TransferLease, result: TransferResult) {
            self.lease = lease
            self.result = result
            progress = nil
        }
    }

    /// The end of a lease.
    public struct End: Sendable {
        let event: TaskMachine.Event
        let result: TransferResult?

        init(_ event: TaskMachine.Event, _ result: TransferResult? = nil) {
            self.event = event
            self.result = result
        }

        /// The transfer has completed.
        public static let completed = End(.succeed)
        /// The worker gives the transfer back, for any worker. This is no failure.
        public static let givenBack = End(.interrupt)

        /// The attempt failed.
        ///
        /// - Parameters:
        ///   - error: The error, of which the code and the message are stored.
        ///   - decision: Whether the transfer waits for another attempt, and how long. Without one it has failed.
        public static func failed(_ error: BackgroundError, _ decision: RetryPolicy.Decision) -> End {
            End(.fail(StoredError(error), decision, hadProgress: false))
        }
    }
}

public import FoundationEssentials
public import LinnetSession

/// Options of one background transfer.
public struct TransferOptions: Sendable, Hashable {
    /// The SHA-256 of the complete file, in hexadecimal. A download with another digest fails with
    /// ``BackgroundError/Code/digestMismatch``, and does not reach its destination. The file of an upload is read
    /// before each attempt; with another digest it is not sent, and the task fails with
    /// ``BackgroundError/Code/sourceChanged``. The default is nil.
    public var sha256: String?
    /// The size of the complete file in bytes. A longer download is stopped, and a shorter one fails, with
    /// ``BackgroundError/Code/sizeMismatch``. An upload of another size is not sent, and fails with
    /// ``BackgroundError/Code/sourceChanged``. The default is nil.
    public var expectedSize: Int64?
    /// The priority among the waiting tasks. It is worth waiting time, so that no task waits forever: one with
    /// `.normal` begins before a task with `.low` that was accepted up to ten minutes earlier. The default is
    /// `.normal`.
    public var priority = RequestPriority.normal
    /// The time before which the task does not begin. The default is nil.
    public var earliestBeginDate: Date?
    /// The longest time of a task, from acceptance, or from ``earliestBeginDate`` if it is later. The default is 7
    /// days. Beyond it, the task fails with ``BackgroundError/Code/expired``.
    public var timeout = Duration.seconds(7 * 86_400)
    /// A label of your own, which is stored. The default is nil.
    public var tag: String?
    /// A label of your own that several tasks share. The default is nil.
    public var group: String?
    /// Whether a file at the destination is replaced. If not, the task fails with
    /// ``BackgroundError/Code/invalidDestination``. The default is true.
    public var replacesFile = true
    /// Whether missing folders in the destination's path are created. The default is false.
    public var createsDirectories = false
    /// The permissions of the file, such as 0o600. The default is nil: 0o666, reduced by the process's umask.
    public var permissions: UInt16?
    /// The largest number of bytes a second of this task, on average over about a second. The default is nil: no limit
    /// of its own. Beyond it, the transfer waits.
    public var bytesPerSecond: Int64?
    /// The number of requests that download the file at once, each a range of it; 1 to 16. The default is 1.
    ///
    /// More than one take effect if the request is a GET without a body, the server sends ranges (RFC 9110, section 14)
    /// of a file with a known length and a strong validator, and each segment has at least 1 MiB. Otherwise, and if the
    /// file changes meanwhile, one request downloads it. If a server refuses segments, fewer are requested at
    /// once. A task counts once for ``BackgroundSession/Configuration/maximumActivePerHost``, however many segments it
    /// has.
    public var segments = 1
    /// How often an upload is sent again that was interrupted, because its process or its lease has ended. The default
    /// is nil: ``BackgroundSession/Configuration/attemptsToRecreateUploads`` of the session that transfers, and 3 in a
    /// ``TransferStore``.
    public var attemptsToRecreateUploads: Int?
    /// Whether expensive networks may be used. False requires a session with a reachability monitor. The default is
    /// true.
    public var allowsExpensiveNetworks = true
    /// The name of a credential, which is stored in place of the credential itself. Each attempt looks it up by
    /// ``BackgroundSession/Configuration/credential``. The default is nil: none.
    public var credential: String?
    /// Whether credentials of the request are stored in the journal, readable for the user, in clear text. The default
    /// is false: a call with a credential of its own is refused with ``BackgroundError/Code/credentialRefused``.
    public var storesSecrets = false

    /// Creates the default options.
    public init() {}

    /// Creates the default options, modified by a function.
    public init(_ configure: (inout TransferOptions) -> Void) {
        configure(&self)
    }

    static let mostSegments = 16

    static func checkBandwidthLimit(_ bytesPerSecond: Int64?) throws(BackgroundError) {
        guard let bytesPerSecond, bytesPerSecond < 1 else { return }
        throw BackgroundError(
            .invalidOptions, "The bandwidth limit \(bytesPerSecond) is not a positive number of bytes.")
    }
}

public import FoundationEssentials
public import HTTPTypes
public import LinnetSession

/// A transfer of a ``TransferStore``, as it was when it was read.
public struct StoredTransfer: Sendable, Identifiable {
    /// The caller's identifier.
    public let id: String
    /// The number of the transfer in its store, in the order of addition.
    package let number: Int64
    let definition: TransferDefinition
    var machine: TaskMachine
    var result: TransferResult
    /// The time in milliseconds after which the transfer fails.
    var expiryTime: Int64
    /// The time in milliseconds at which the lease ends; nil without one.
    var leaseEnd: Int64?
    /// The name of the worker that has the lease; nil without one.
    public internal(set) var worker: String?

    /// The direction.
    public var kind: BackgroundTask.Kind { definition.kind }
    /// The name of a download's destination; empty for an upload.
    public var destination: String { kind == .download ? definition.path : "" }
    /// The name of the file of an upload; nil for a download.
    public var source: String? { kind == .upload ? definition.path : nil }
    /// The state. A leased transfer is ``BackgroundTask/State/running``.
    public var state: BackgroundTask.State { machine.state }
    /// The URL of the request; nil if it cannot be one.
    public var url: URL? { definition.requestURL }
    /// The method of the request.
    public var method: HTTPRequest.Method { definition.requestMethod }
    /// The bytes transferred when the lease was last renewed.
    public var progress: TransferProgress {
        TransferProgress(completed: result.received, total: result.total ?? definition.expectedSize)
    }
    /// The error of a failed transfer, or of the last attempt of one that will be tried again.
    public var error: BackgroundError? { machine.error?.error }
    /// The number of leases that were given, which is the fencing number of the last one.
    public var attempts: Int { machine.attempts }
    /// The earliest time of the next attempt by the store's clock; nil if it can begin at once, or if there is none.
    public var nextAttempt: Date? {
        machine.state == .waiting && readyAt > .min ? Date(milliseconds: readyAt) : nil
    }
    /// The time by the store's clock after which the transfer fails.
    public var expiry: Date { Date(milliseconds: expiryTime) }
    /// The priority among the waiting transfers.
    public var priority: RequestPriority { RequestPriority(definition.priority) }
    /// The custom label.
    public var tag: String? { definition.tag }
    /// The custom label that several transfers share.
    public var group: String? { definition.group }
    /// The status of the last response that ended an attempt.
    public var status: HTTPResponse.Status? { result.status.map { HTTPResponse.Status(code: $0) } }
    /// The header fields of that response, up to 16 KiB, without credentials such as cookies; empty if a file was
    /// downloaded in segments.
    public var responseFields: HTTPFields { HTTPFields(result.responseFields ?? []) }
    /// The first 64 KiB of the response to an upload, or of the error page that ended an attempt.
    public var responseBody: Data? { result.responseBody }

    /// The host and port, for the limit of each host.
    package var host: String { definition.host }
    /// The time before which the transfer does not begin.
    var readyAt: Int64 { max(definition.earliest ?? .min, machine.retryAt ?? .min) }
}

internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetSession

/// The part of a task that does not change after it was accepted, apart from its bandwidth limit.
struct TransferDefinition: Sendable, Equatable, Codable {
    /// A header field, with the octets of its value as the characters of ISO 8859-1.
    struct Field: Sendable, Equatable, Codable {
        let name: String
        let value: String

        init(_ field: HTTPField) {
            name = field.name.rawName
            value = field.isoLatin1Value
        }
    }

    /// The largest body in memory that is stored.
    static let largestBody = 1 << 20

    var kind: BackgroundTask.Kind
    var method: String
    var url: String
    var fields: [Field]
    var body: Data?
    /// The path of the destination, or of the file that is uploaded.
    var path: String
    /// The file of an upload when it was accepted.
    var source: FileState?
    /// A random name for the files beside the destination.
    var mark: String
    var acceptedAt: Int64
    var earliest: Int64?
    /// The time until the task expires, in milliseconds.
    var timeout: Int64
    var sha256: String?
    var expectedSize: Int64?
    var priority: Double
    var tag: String?
    var group: String?
    var replacesFile: Bool
    var createsDirectories: Bool
    var permissions: UInt16?
    var allowsExpensiveNetworks: Bool
    var storesSecrets: Bool
    var bytesPerSecond: Int64?
    /// The name of the credential that is looked up for each attempt.
    var credential: String?
    /// The number of requests that transfer the file at once; nil for one.
    var segments: Int?
    /// How often an interrupted upload is created again; nil for the number of the session, or of all stores.
    var recreations: Int?
    /// The identifier of the transfer, in the files that a worker of a store keeps.
    var transferID: String?

    var requestURL: URL? { URL(string: url) }
    var requestMethod: HTTPRequest.Method { HTTPRequest.Method(method) ?? .get }
    var fileURL: URL { URL(filePath: path, directoryHint: .notDirectory) }

    /// The host and port, for the limit of each host.
    var host: String {
        guard let url = requestURL else { return "" }
        let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        return "\((url.host() ?? "").lowercased()):\(port)"
    }

    /// The rules of the task.
    ///
    /// - Parameter usual: How often an interrupted upload is created again, if the task does not say.
    func rules(recreations usual: Int) -> TaskMachine.Rules {
        TaskMachine.Rules(kind: kind, recreations: recreations ?? usual)
    }

    /// The place in the order of waiting tasks, in milliseconds. Waiting time and priority add up linearly, so the
    /// order of two tasks never changes, and the database can keep it as an index.
    var rank: Int64 { max(acceptedAt, earliest ?? acceptedAt) - worth }

    /// The waiting time in milliseconds that the priority is worth.
    var worth: Int64 { Int64((priority - 0.5) * Double(Self.worthOfPriority)) }

    /// The waiting time that the whole range of priorities is worth: ten minutes from `.low` to `.normal`.
    private static let worthOfPriority: Int64 = 40 * 60 * 1000

    var header: HTTPFields { HTTPFields(fields) }
}

extension HTTPFields {
    init(_ fields: [TransferDefinition.Field]) {
        self.init()
        for field in fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            append(HTTPField(name: name, isoLatin1Value: field.value))
        }
    }
}

/// The state of the file of an upload. A file with another state is not the one that was accepted.
struct FileState: Sendable, Equatable, Codable {
    var device: UInt64
    var node: UInt64
    var size: Int64
    /// The time of the last modification, in seconds and nanoseconds.
    var modified: [Int64]
}

/// The results of a task's attempts, which change with it.
struct TransferResult: Sendable, Equatable, Codable {
    var received: Int64 = 0
    /// The boot of the system in which all bytes of the part were written. Until the next one, none of them are lost.
    var boot: String?
    var total: Int64?
    /// The server's SHA-256 of the representation (`Repr-Digest`, RFC 9530), in hexadecimal.
    var serverDigest: String?
    /// The complete file, while it is moved to its destination.
    var placing: FileState?
    var status: Int?
    var responseFields: [TransferDefinition.Field]?
    var responseBody: Data?

    /// The length of the response's header fields that are stored, and of its body.
    private static let (storedFields, storedBody) = (16 << 10, 64 << 10)

    /// Takes the response that has ended an attempt.
    ///
    /// - Parameters:
    ///   - head: The status, and the header fields.
    ///   - body: The body of an upload's response, or of an error page.
    ///   - secrets: The names of fields that are not stored.
    mutating func take(_ head: HTTPResponse, _ body: Data?, without secrets: Set<HTTPField.Name>) {
        // A resumed download is as good as one that was never interrupted.
        status = (head.status == .partialContent ? .ok : head.status).code
        var room = Self.storedFields
        responseFields = head.headerFields.filter { field in
            room -= field.name.rawName.utf8.count + field.isoLatin1Value.utf8.count
            return room >= 0 && !secrets.contains(field.name)
        }.map { .init($0) }
        responseBody = body.map { Data($0.prefix(Self.storedBody)) }
    }
}

/// A task of the journal.
struct TaskRecord: Sendable, Equatable {
    let id: BackgroundTask.ID
    var definition: TransferDefinition
    var machine: TaskMachine
    var result: TransferResult
    var expiry: Int64
    /// The number of the journal's change that wrote the record.
    var revision: Int64
    /// Whether a program has been told the end.
    var isTold: Bool

    /// The time before which the task does not begin.
    var readyAt: Int64 { max(definition.earliest ?? .min, machine.retryAt ?? .min) }

    /// The value for users.
    func task(_ progress: TransferProgress? = nil) -> BackgroundTask {
        let isWaiting = machine.state == .waiting
        return BackgroundTask(
            id: id, kind: definition.kind, state: machine.state,
            url: definition.requestURL ?? definition.fileURL, method: definition.requestMethod,
            file: definition.fileURL,
            progress: progress
                ?? TransferProgress(completed: result.received, total: result.total ?? definition.expectedSize),
            error: machine.error?.error, attempts: machine.attempts,
            nextAttempt: isWaiting && readyAt > definition.acceptedAt ? Date(milliseconds: readyAt) : nil,
            expiry: Date(milliseconds: expiry), priority: RequestPriority(definition.priority), tag: definition.tag,
            group: definition.group, status: result.status.map { HTTPResponse.Status(code: $0) },
            responseFields: HTTPFields(result.responseFields ?? []), responseBody: result.responseBody,
            bandwidthLimit: definition.bytesPerSecond, requestFields: definition.header)
    }
}

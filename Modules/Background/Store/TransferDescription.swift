internal import FoundationEssentials
internal import HTTPTypes
public import LinnetSession

/// A download or an upload to add to a ``TransferStore``.
public struct TransferDescription: Sendable {
    /// The caller's identifier of the transfer. A store has each identifier once.
    public let id: String
    /// The name of a download's destination; empty for an upload. See
    /// ``TransferWorker/init(_:directory:configure:destination:)``.
    public var destination: String { definition.kind == .download ? definition.path : "" }
    /// The name of the file of an upload; nil for a download. See ``TransferWorker/Configuration/source``.
    public var source: String? { definition.kind == .upload ? definition.path : nil }

    let definition: TransferDefinition

    /// The longest identifier and the longest name in bytes of UTF-8, as an index of a database can have them.
    private static let longestID = 1024
    private static let longestName = 16 << 10

    /// Describes a download.
    ///
    /// The request is stored as the call made it: method, URL with its query, header fields, and a body of up to 1 MiB
    /// in memory. The session of the worker sends it, and adds its own fields. In a store on a server, the options
    /// ``TransferOptions/storesSecrets`` and ``TransferOptions/credential`` are worth a second thought: every reader of
    /// the store can read stored secrets.
    ///
    /// - Parameters:
    ///   - id: The identifier: 1 to 1024 bytes, for example the URL, or the name of the destination.
    ///   - call: The request.
    ///   - destination: The name of the destination, up to 16 KiB, which the worker turns into a file or an object.
    ///   - configure: Changes the default options. ``TransferOptions/replacesFile``,
    ///     ``TransferOptions/createsDirectories`` and ``TransferOptions/permissions`` apply to files.
    /// - Throws: ``BackgroundError`` with ``BackgroundError/Code/invalidRequest``,
    ///   ``BackgroundError/Code/credentialRefused``, or ``BackgroundError/Code/invalidOptions``, also for an identifier
    ///   or a name that is empty, too long, or has a NUL.
    public init(
        _ id: String, download call: HTTPCall, to destination: String,
        configure: (inout TransferOptions) -> Void = { _ in }
    ) throws(BackgroundError) {
        try self.init(id, .download, call, destination, TransferOptions(configure))
    }

    /// Describes an upload of a file, which a worker finds by its name.
    ///
    /// The request is stored like a download's. The file is where the workers are: each attempt asks
    /// ``TransferWorker/Configuration/source`` for it, and checks it against ``TransferOptions/expectedSize`` and
    /// ``TransferOptions/sha256``. Without them, any file of the name is sent.
    ///
    /// A server may receive the upload more than once: an attempt that was interrupted, because its worker has ended or
    /// was away, is followed by another, up to ``TransferOptions/attemptsToRecreateUploads`` times. A request with an
    /// Idempotency-Key tells the server that it is the same one.
    ///
    /// - Parameters:
    ///   - id: The identifier: 1 to 1024 bytes.
    ///   - call: The request without a body.
    ///   - source: The name of the file, up to 16 KiB.
    ///   - configure: Changes the default options. Options for a download's file have no effect.
    /// - Throws: ``BackgroundError`` with the codes of a download, and ``BackgroundError/Code/invalidRequest`` for a
    ///   request with a body.
    public init(
        _ id: String, upload call: HTTPCall, from source: String,
        configure: (inout TransferOptions) -> Void = { _ in }
    ) throws(BackgroundError) {
        try self.init(id, .upload, call, source, TransferOptions(configure))
    }

    private init(
        _ id: String, _ kind: BackgroundTask.Kind, _ call: HTTPCall, _ name: String, _ options: TransferOptions
    ) throws(BackgroundError) {
        try Self.check(id, "identifier of a transfer", Self.longestID)
        try Self.check(name, kind == .download ? "name of a destination" : "name of a file", Self.longestName)
        var definition = try Acceptance(call, options, sender: nil).definition(kind, name)
        definition.body = try Acceptance.storedBody(of: call)
        guard kind == .download || definition.body == nil else { throw .bodyOfUpload }
        self.id = id
        self.definition = definition
    }

    private static func check(_ text: String, _ name: String, _ limit: Int) throws(BackgroundError) {
        guard (1...limit).contains(text.utf8.count) else {
            throw BackgroundError(
                .invalidOptions, "The \(name) has \(text.utf8.count) bytes: use 1 to \(limit).")
        }
        guard !text.utf8.contains(0) else {
            throw BackgroundError(.invalidOptions, "The \(name) has a NUL, which a database cannot store.")
        }
    }
}

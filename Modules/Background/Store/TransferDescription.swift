internal import FoundationEssentials
internal import HTTPTypes
public import LinnetSession

/// A download to add to a ``TransferStore``.
public struct TransferDescription: Sendable {
    /// The caller's identifier of the transfer. A store has each identifier once.
    public let id: String
    /// The name of the destination; see ``TransferWorker/init(_:directory:configure:destination:)``.
    public let destination: String

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
        try Self.check(id, "identifier of a transfer", Self.longestID)
        try Self.check(destination, "name of a destination", Self.longestName)
        self.id = id
        self.destination = destination
        var definition = try Acceptance(call, TransferOptions(configure), sender: nil)
            .definition(.download, destination)
        definition.body = try Acceptance.storedBody(of: call)
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

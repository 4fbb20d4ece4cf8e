internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetSession

/// Makes the stored form of a call, or refuses it.
struct Acceptance {
    private let request: SessionRequest
    private let options: TransferOptions
    private let credentials: Set<HTTPField.Name>

    /// - Parameters:
    ///   - call: The call.
    ///   - options: The options of the task.
    ///   - sender: The session that sends the request; nil if that is another program's.
    init(_ call: HTTPCall, _ options: TransferOptions, sender: HTTPSession?) throws(BackgroundError) {
        self.options = options
        do {
            request = try call.ownRequest()
        } catch {
            throw BackgroundError(
                .invalidRequest, error.message, sessionCode: error.code, underlying: error)
        }
        credentials = call.owner.credentialNames.union(sender?.credentialNames ?? [])
        guard call.owner === sender || !call.owner.addsCredentials else {
            throw BackgroundError(
                .credentialRefused,
                "The session of the call adds credentials that are not stored: let the session that sends the request add "
                    + "them, and make the call with that session, or with one that adds none.")
        }
        try checkCredentials()
        try checkOptions()
    }

    private func checkCredentials() throws(BackgroundError) {
        guard !options.storesSecrets else { return }
        let ways =
            "let the session add it (a serializer, an adapter or a credential), name it (credential), or set storesSecrets"
        if let field = request.headerFields.first(where: { credentials.contains($0.name) }) {
            throw BackgroundError(
                .credentialRefused, "The field \(field.name) is a credential, which is not stored: \(ways).")
        }
        guard request.url.withoutUserInfo == request.url else {
            throw BackgroundError(
                .credentialRefused, "The URL has a user or a password, which is not stored: \(ways).")
        }
    }

    private func checkOptions() throws(BackgroundError) {
        if let digest = options.sha256, digest.utf8.count != 64 || !digest.allSatisfy(\.isHexDigit) {
            throw BackgroundError(.invalidOptions, "\"\(digest)\" is not a SHA-256 in hexadecimal.")
        }
        if let size = options.expectedSize, size < 0 {
            throw BackgroundError(.invalidOptions, "The expected size \(size) is negative.")
        }
        if let name = options.credential, name.isEmpty {
            throw BackgroundError(.invalidOptions, "The name of the credential is empty.")
        }
        guard (1...TransferOptions.mostSegments).contains(options.segments) else {
            throw BackgroundError(
                .invalidOptions,
                "The number of segments is \(options.segments), not 1 to \(TransferOptions.mostSegments).")
        }
        if let attempts = options.attemptsToRecreateUploads, attempts < 0 {
            throw BackgroundError(.invalidOptions, "The number of attempts to recreate an upload is negative.")
        }
        try TransferOptions.checkBandwidthLimit(options.bytesPerSecond)
    }

    /// Returns the definition of a task without its body and its source.
    func definition(_ kind: BackgroundTask.Kind, _ file: URL) throws(BackgroundError) -> TransferDefinition {
        guard file.isFileURL else {
            throw BackgroundError(.invalidDestination, "The file of a task is not a file URL.")
        }
        let path = file.absoluteURL.path(percentEncoded: false)
        guard !path.hasSuffix("/"), !path.utf8.contains(0), !["", ".", ".."].contains(file.lastPathComponent) else {
            throw BackgroundError(.invalidDestination, "\(path) does not name a file.")
        }
        return definition(kind, path)
    }

    /// Returns the definition of a task whose path is one, or becomes one later.
    func definition(_ kind: BackgroundTask.Kind, _ path: String) -> TransferDefinition {
        TransferDefinition(
            kind: kind, method: request.method.rawValue, url: request.url.absoluteString,
            fields: request.headerFields.map { .init($0) }, path: path,
            mark: String(UInt64.random(in: 0...UInt64.max), radix: 36), acceptedAt: Runner.now,
            earliest: options.earliestBeginDate?.milliseconds, timeout: options.timeout.milliseconds,
            sha256: options.sha256?.lowercased(), expectedSize: options.expectedSize,
            priority: options.priority.value, tag: options.tag, group: options.group,
            replacesFile: options.replacesFile, createsDirectories: options.createsDirectories,
            permissions: options.permissions, allowsExpensiveNetworks: options.allowsExpensiveNetworks,
            storesSecrets: options.storesSecrets, bytesPerSecond: options.bytesPerSecond,
            credential: options.credential, segments: options.segments == 1 ? nil : options.segments,
            recreations: options.attemptsToRecreateUploads)
    }

    /// The body of a call, which must be small and in memory; nil if it has none.
    static func storedBody(of call: HTTPCall) throws(BackgroundError) -> Data? {
        guard let body = try? call.ownRequest().body else { return nil }
        guard let data = body.data, data.count <= TransferDefinition.largestBody else {
            throw BackgroundError(
                .invalidRequest,
                "The body of the request cannot be stored: use up to 1 MiB in memory, or upload a file.")
        }
        return data.isEmpty ? nil : data
    }
}
